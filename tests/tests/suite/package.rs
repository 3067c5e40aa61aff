//! The package for npm, installed from its archive and used as a program would: in Node.js, in a browser
//! and by TypeScript.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use deliver_twice_tests::{Page, repository};

use crate::program::run;

/// A folder in which the package is installed, and in which the programs of `tests/fixtures/package` are.
fn installed() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("package");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("target/ can be written to");
        let fixtures = repository().join("tests/fixtures/package");
        for file in fs::read_dir(fixtures).expect("the fixtures").flatten() {
            fs::copy(file.path(), folder.join(file.file_name())).expect("a fixture");
        }
        let archive = archive();
        let archive = archive.to_str().expect("a path in Unicode");
        let options = [
            "install",
            "--offline",
            "--no-save",
            "--no-package-lock",
            "--no-audit",
        ];
        run(
            "npm",
            &[&options[..], &["--no-fund", "--prefix", ".", archive]].concat(),
            &folder,
        );
        folder
    })
}

/// What `cargo xtask package` has packed, which must be of the build that is there.
fn archive() -> PathBuf {
    let folder = repository().join("pkg");
    let hint = "pack the build first: `cargo xtask package`, or `cargo xtask test`";
    let packed = folder.join("deliver-twice/deliver-twice-web_bg.wasm");
    let module = "dist/deliver-twice-web_bg.wasm";
    let is_of_the_build =
        fs::read(packed).expect(hint) == fs::read(repository().join(module)).expect("a build");
    assert!(is_of_the_build, "{hint}");
    let files = fs::read_dir(&folder).expect(hint).flatten();
    let mut archives = files.map(|file| file.path());
    let is_archive = |path: &PathBuf| path.extension().is_some_and(|name| name == "tgz");
    archives.find(is_archive).expect(hint)
}

#[test]
fn a_program_in_node_uses_the_package_and_typescript_reads_it() {
    let folder = installed();
    run("node", &["--test", "use.mjs"], folder);
    let home = env::var("TYPESCRIPT");
    let home = home.expect("`TYPESCRIPT` names the package's folder: run `cargo xtask test`");
    let compiler = format!("{home}/node_modules/typescript/bin/tsc");
    // The sample uses what is declared; `values.ts`, written by the program above, is what was returned.
    run("node", &[&compiler, "--project", "."], folder);
}

#[test]
fn rubbish_never_breaks_the_module() {
    run("node", &["--test", "fuzz.mjs"], installed());
}

#[test]
fn a_page_uses_the_package_and_keeps_what_is_its_own() {
    let page = Page::open_folder(installed());
    page.wait_text("#said", "duplicate-effect; holds: true; went on: true");
    assert_eq!(page.text("#lab"), "mine");
    assert_eq!(page.console_errors(), [] as [String; 0]);
}

/// A folder beside the installed package with a program that is yet to be bundled.
fn to_bundle(name: &str) -> PathBuf {
    let folder = installed().join(name);
    fs::create_dir_all(&folder).expect("target/ can be written to");
    let fixtures = repository().join("tests/fixtures/bundled");
    for file in fs::read_dir(fixtures).expect("the fixtures").flatten() {
        fs::copy(file.path(), folder.join(file.file_name())).expect("a fixture");
    }
    folder
}

/// The path of something in what VitePress was installed with: Vite and esbuild are among it.
fn beside_vitepress(path: &str) -> String {
    let home = env::var("VITEPRESS");
    let home = home.expect("`VITEPRESS` names its folder: run `cargo xtask test`, which sets it");
    format!("{home}/node_modules/{path}")
}

#[track_caller]
fn says_what_it_found(folder: &Path) {
    let page = Page::open_folder(folder);
    page.wait_text("#said", "duplicate-effect; holds: true");
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn a_program_that_vite_bundled_uses_the_package() {
    let folder = to_bundle("vite");
    let vite = beside_vitepress("vite/bin/vite.js");
    let line = ["build", "--base", "./", "--outDir", "out"];
    run("node", &[&[vite.as_str()], &line[..]].concat(), &folder);
    says_what_it_found(&folder.join("out"));
}

/// esbuild leaves the module's address as it is, so whoever bundles puts the module beside the program.
#[test]
fn a_program_that_esbuild_bundled_uses_the_package() {
    let folder = to_bundle("esbuild");
    let script = "require(process.argv[1]).buildSync({ entryPoints: ['main.js'], bundle: true, \
                      format: 'esm', outdir: 'out' }); \
                  const fs = require('fs'); \
                  fs.copyFileSync('index.html', 'out/index.html'); \
                  fs.copyFileSync(require.resolve('deliver-twice/module.wasm', { paths: ['.'] }), \
                      'out/deliver-twice-web_bg.wasm');";
    run(
        "node",
        &["-e", script, &beside_vitepress("esbuild")],
        &folder,
    );
    says_what_it_found(&folder.join("out"));
}
