//! Package managers: which packages bring a program, and how to install them.

use std::fmt::Write;

use super::announce;
use super::system::SystemTool;
use crate::failure::Failure;
use crate::toolbox::Toolbox;

/// A package manager, with the systems it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manager {
    /// Debian, Ubuntu and their relatives.
    Apt,
    /// Fedora and its relatives.
    Dnf,
    /// Arch Linux and its relatives.
    Pacman,
    /// macOS.
    Brew,
    /// Windows.
    Winget,
}

impl Manager {
    const ALL: [Manager; 5] = [
        Manager::Apt,
        Manager::Dnf,
        Manager::Pacman,
        Manager::Brew,
        Manager::Winget,
    ];

    fn systems(self) -> &'static str {
        match self {
            Manager::Apt => "Debian, Ubuntu",
            Manager::Dnf => "Fedora",
            Manager::Pacman => "Arch Linux",
            Manager::Brew => "macOS",
            Manager::Winget => "Windows",
        }
    }

    fn program(self) -> &'static str {
        match self {
            Manager::Apt => "apt-get",
            Manager::Dnf => "dnf",
            Manager::Pacman => "pacman",
            Manager::Brew => "brew",
            Manager::Winget => "winget",
        }
    }

    /// The arguments before the names of the packages.
    fn install_arguments(self) -> &'static [&'static str] {
        match self {
            Manager::Apt => &["install", "-y", "--no-install-recommends"],
            Manager::Dnf => &["install", "-y"],
            Manager::Pacman => &["-S", "--needed", "--noconfirm"],
            Manager::Brew => &["install"],
            Manager::Winget => &["install", "-e"],
        }
    }

    fn wants_root(self) -> bool {
        match self {
            Manager::Apt | Manager::Dnf | Manager::Pacman => true,
            Manager::Brew | Manager::Winget => false,
        }
    }

    fn packages(self, tool: SystemTool) -> &'static [&'static str] {
        match (self, tool) {
            (Manager::Apt, SystemTool::Clang) => &["clang", "llvm"],
            (Manager::Apt, SystemTool::Node) => &["nodejs", "npm"],
            (Manager::Apt, SystemTool::Chromium) => &["chromium", "chromium-driver"],
            (Manager::Apt, SystemTool::Sqlite) => &["sqlite3"],
            (Manager::Apt, SystemTool::CjkFont) => &["fontconfig", "fonts-noto-cjk"],
            (Manager::Apt, SystemTool::Python) => &["python3", "python3-venv"],
            (Manager::Dnf, SystemTool::Clang) => &["clang", "llvm"],
            (Manager::Dnf, SystemTool::Node) => &["nodejs", "nodejs-npm"],
            (Manager::Dnf, SystemTool::Chromium) => &["chromium", "chromedriver"],
            (Manager::Dnf, SystemTool::Sqlite) => &["sqlite"],
            (Manager::Dnf, SystemTool::CjkFont) => &["fontconfig", "google-noto-sans-cjk-fonts"],
            (Manager::Dnf, SystemTool::Python) => &["python3"],
            (Manager::Pacman, SystemTool::Clang) => &["clang", "llvm"],
            (Manager::Pacman, SystemTool::Node) => &["nodejs", "npm"],
            (Manager::Pacman, SystemTool::Chromium) => &["chromium"],
            (Manager::Pacman, SystemTool::Sqlite) => &["sqlite"],
            (Manager::Pacman, SystemTool::CjkFont) => &["fontconfig", "noto-fonts-cjk"],
            (Manager::Pacman, SystemTool::Python) => &["python"],
            (Manager::Brew, SystemTool::Clang) => &["llvm"],
            (Manager::Brew, SystemTool::Node) => &["node"],
            (Manager::Brew, SystemTool::Chromium) => &["google-chrome", "chromedriver"],
            (Manager::Brew, SystemTool::Sqlite) => &["sqlite"],
            (Manager::Brew, SystemTool::Python) => &["python"],
            (Manager::Winget, SystemTool::Clang) => &["LLVM.LLVM"],
            (Manager::Winget, SystemTool::Node) => &["OpenJS.NodeJS.LTS"],
            (Manager::Winget, SystemTool::Chromium) => &["Google.Chrome", "Chromium.ChromeDriver"],
            (Manager::Winget, SystemTool::Sqlite) => &["SQLite.SQLite"],
            (Manager::Winget, SystemTool::Python) => &["Python.Python.3.13"],
            (Manager::Brew | Manager::Winget, SystemTool::CjkFont) => &[],
        }
    }

    fn packages_of(self, tools: &[SystemTool]) -> Vec<&'static str> {
        tools
            .iter()
            .flat_map(|tool| self.packages(*tool))
            .copied()
            .collect()
    }

    /// The command that a person would type.
    fn line(self, tools: &[SystemTool]) -> String {
        let sudo: &[&str] = if self.wants_root() { &["sudo"] } else { &[] };
        let mut words = [sudo, &[self.program()], self.install_arguments()].concat();
        words.extend(self.packages_of(tools));
        words.join(" ")
    }
}

/// Says what is missing and how a person installs it on each system.
pub fn instructions(tools: &[SystemTool]) -> String {
    let mut text =
        String::from("missing on this machine, and xtask has no right to install it here:\n");
    for tool in tools {
        writeln!(text, "  {}", tool.label()).expect("writing to a String succeeds");
    }
    text.push_str("install it, then repeat the command:\n");
    for manager in Manager::ALL
        .iter()
        .filter(|manager| !manager.packages_of(tools).is_empty())
    {
        let line = manager.line(tools);
        writeln!(text, "  {:<16}{line}", manager.systems()).expect("writing to a String succeeds");
    }
    text
}

/// Installs the programs if this machine's manager can do so without asking a person.
///
/// Does nothing if there is no manager or no right to use it; the caller looks again.
///
/// # Errors
/// [`Failure::Program`] if the manager fails.
pub fn install(tools: &[SystemTool], toolbox: &Toolbox) -> Result<(), Failure> {
    let Some((manager, sudo)) = unattended_manager(toolbox) else {
        return Ok(());
    };
    let packages = match manager {
        Manager::Apt => {
            run(sudo, "apt-get", &["update"], toolbox)?;
            tools
                .iter()
                .flat_map(|tool| apt_packages(*tool, toolbox))
                .copied()
                .collect()
        }
        _ => manager.packages_of(tools),
    };
    announce(&packages.join(", "));
    run(
        sudo,
        manager.program(),
        &[manager.install_arguments(), &packages].concat(),
        toolbox,
    )
}

/// Whether a command is to be started through sudo.
#[derive(Clone, Copy)]
enum Sudo {
    Yes,
    No,
}

/// The manager that works here without a question. Windows always asks, so never winget.
fn unattended_manager(toolbox: &Toolbox) -> Option<(Manager, Sudo)> {
    let candidates = [Manager::Apt, Manager::Dnf, Manager::Pacman, Manager::Brew];
    let is_here = |manager: &&Manager| toolbox.find(manager.program()).is_some();
    let manager = *candidates.iter().find(is_here)?;
    if !manager.wants_root() {
        return Some((manager, Sudo::No));
    }
    let is_root = toolbox
        .output("id", &["-u"])
        .is_some_and(|id| id.trim() == "0");
    let has_sudo = || toolbox.output("sudo", &["-n", "true"]).is_some();
    match is_root {
        true => Some((manager, Sudo::No)),
        false => has_sudo().then_some((manager, Sudo::Yes)),
    }
}

fn run(sudo: Sudo, program: &str, arguments: &[&str], toolbox: &Toolbox) -> Result<(), Failure> {
    match sudo {
        Sudo::Yes => toolbox.run("sudo", &[&["-n", program], arguments].concat()),
        Sudo::No => toolbox.run(program, arguments),
    }
}

/// The packages of this release: the newest clang known to work, and Ubuntu's other names.
fn apt_packages(tool: SystemTool, toolbox: &Toolbox) -> &'static [&'static str] {
    let offers = |package: &str| toolbox.output("apt-cache", &["show", package]).is_some();
    match tool {
        SystemTool::Clang if offers("clang-19") => &["clang-19", "llvm-19"],
        SystemTool::Chromium if !offers("chromium-driver") => {
            &["chromium-browser", "chromium-chromedriver"]
        }
        _ => Manager::Apt.packages(tool),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_name_the_programs_and_a_command_for_each_system() {
        let text = instructions(&[SystemTool::Clang, SystemTool::Node]);
        for expected in [
            "  clang that compiles C to wasm32, with llvm-ar\n  Node.js with npm\n",
            "sudo apt-get install -y --no-install-recommends clang llvm nodejs npm\n",
            "sudo dnf install -y clang llvm nodejs nodejs-npm\n",
            "sudo pacman -S --needed --noconfirm clang llvm nodejs npm\n",
            "brew install llvm node\n",
            "winget install -e LLVM.LLVM OpenJS.NodeJS.LTS\n",
        ] {
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn a_system_that_brings_the_font_itself_is_not_told_to_install_it() {
        let text = instructions(&[SystemTool::CjkFont]);
        assert!(
            text.contains("fonts-noto-cjk") && !text.contains("macOS"),
            "{text}"
        );
    }
}
