//! The page as a test sees it.

use std::env;
use std::fs;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::driver::Driver;
use crate::repository;
use crate::session::{Element, Refusal, Session};
use crate::site::Site;
use crate::{keys, wait};

/// Widths at which a screenshot is taken, in CSS pixels: a desk, half a desk, a phone.
const WIDTHS: [u32; 3] = [1440, 700, 360];

/// The height of the window in CSS pixels.
const HEIGHT: u32 = 900;

/// A page open in a browser of its own. Dropping it closes the browser.
///
/// Selectors are CSS. Every function that names one waits until an element matches it and can
/// be used; all waits are bounded and end in a panic that says what was found instead.
pub struct Page {
    // In the order in which they have to end.
    session: Session,
    _driver: Driver,
    site: Site,
}

impl Page {
    /// Opens the built page in `dist/`, in English, 1440 pixels wide.
    #[track_caller]
    pub fn open() -> Page {
        Page::open_at("")
    }

    /// Opens the built page at a fragment, such as `#…`, as from a link.
    #[track_caller]
    pub fn open_at(fragment: &str) -> Page {
        Page::start(&repository().join("dist"), None, "en-US", fragment)
    }

    /// Opens the built page from a server that sends a content security policy with it.
    #[track_caller]
    pub fn open_under(policy: &str) -> Page {
        Page::start(&repository().join("dist"), Some(policy), "en-US", "")
    }

    /// Opens the built page in a browser that prefers a language, such as `zh-CN`.
    #[track_caller]
    pub fn open_in(language: &str) -> Page {
        Page::start(&repository().join("dist"), None, language, "")
    }

    /// Opens the `index.html` of a folder.
    #[track_caller]
    pub fn open_folder(folder: &Path) -> Page {
        Page::start(folder, None, "en-US", "")
    }

    /// Opens the `index.html` of a folder from a server that sends a content security policy with it.
    #[track_caller]
    pub fn open_folder_under(folder: &Path, policy: &str) -> Page {
        Page::start(folder, Some(policy), "en-US", "")
    }

    #[track_caller]
    fn start(folder: &Path, policy: Option<&str>, language: &str, fragment: &str) -> Page {
        let site = Site::serve(folder, policy);
        let driver = Driver::start();
        let session = Session::open(&driver.address(), language);
        let page = Page {
            session,
            _driver: driver,
            site,
        };
        page.set_width(WIDTHS[0]);
        page.visit(fragment);
        page
    }

    /// Loads the page afresh at a fragment, as from a link.
    #[track_caller]
    pub fn visit(&self, fragment: &str) {
        // By way of an empty page: to change only the fragment would not load anything.
        for address in [
            "about:blank".to_owned(),
            format!("{}{fragment}", self.site.address()),
        ] {
            must(
                "open the page",
                self.session.post("/url", json!({ "url": address })),
            );
        }
    }

    /// Loads the page again, as the browser's own button does.
    #[track_caller]
    pub fn reload(&self) {
        must("reload the page", self.session.post("/refresh", json!({})));
    }

    /// Makes the browser forget what it has kept of the page's site: files, caches, service workers.
    #[track_caller]
    pub fn forget(&self) {
        let site = json!({ "origin": self.eval("location.origin"), "storageTypes": "all" });
        let files = self
            .session
            .devtools("Network.clearBrowserCache", json!({}));
        must("forget files", files);
        let rest = self.session.devtools("Storage.clearDataForOrigin", site);
        must("forget the rest", rest);
    }

    /// Takes the page's server away.
    pub fn stop_server(&mut self) {
        self.site.stop();
    }

    /// What the browser has asked the page's server for since the last call: paths, in order.
    pub fn take_requests(&self) -> Vec<String> {
        self.site.take_asked()
    }

    /// Goes on inside a frame of the page, once it shows an element.
    #[track_caller]
    pub fn enter_frame(&self, selector: &str, shows: &str) {
        let selector = Value::from(selector);
        self.enter_frame_of(&format!("document.querySelector({selector})"), shows);
    }

    /// Goes on inside the frame that a JavaScript expression is, be it in a shadow, once it shows an element.
    #[track_caller]
    pub fn enter_frame_of(&self, expression: &str, shows: &str) {
        wait::until(&format!("`{expression}` to show `{shows}`"), || {
            let session = &self.session;
            // From outside each time: a document that gives way to another one takes its name along.
            let entered = session
                .leave_frames()
                .and_then(|()| session.element_of(expression))
                .and_then(|frame| session.enter_frame(&frame))
                .and_then(|()| session.element(shows));
            entered.map(drop).map_err(|refusal| refusal.to_string())
        });
    }

    /// Comes back out of a frame.
    #[track_caller]
    pub fn leave_frame(&self) {
        must("leave a frame", self.session.leave_frames());
    }

    /// Clicks the middle of an element once it is there and nothing covers it.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        // A result that comes in meanwhile may push an element away from under the pointer.
        self.wait_until(
            &format!("`{selector}` to stand still"),
            &format!(
                "(element => {{ \
                   const place = JSON.stringify(element?.getBoundingClientRect()); \
                   const stood = element?.stoodAt; \
                   if (element) element.stoodAt = place; \
                   return element !== null && stood === place; \
                 }})(document.querySelector({}))",
                serde_json::Value::from(selector)
            ),
        );
        let click = |element: &Element| self.session.click(element);
        self.with_element(&format!("`{selector}` to be clicked"), selector, click);
    }

    /// Moves the pointer to the middle of an element, once it is there.
    #[track_caller]
    pub fn hover(&self, selector: &str) {
        let hover = |element: &Element| self.session.hover(element);
        self.with_element(&format!("`{selector}` to be pointed at"), selector, hover);
    }

    /// Chooses the option with this value in a `<select>`.
    #[track_caller]
    pub fn choose(&self, selector: &str, value: &str) {
        self.click(&format!("{selector} option[value=\"{value}\"]"));
    }

    /// The text of an element as the page shows it now; empty if the element is hidden.
    #[track_caller]
    pub fn text(&self, selector: &str) -> String {
        let text = |element: &Element| self.session.text(element);
        self.with_element(&format!("the text of `{selector}`"), selector, text)
    }

    /// Waits until the shown text of an element contains `part`.
    #[track_caller]
    pub fn wait_text(&self, selector: &str, part: &str) {
        wait::until(&format!("`{selector}` to show {part:?}"), || {
            let element = self
                .session
                .element(selector)
                .map_err(|refusal| refusal.to_string())?;
            let text = self
                .session
                .text(&element)
                .map_err(|refusal| refusal.to_string())?;
            if text.contains(part) {
                Ok(())
            } else {
                Err(format!("{text:?}"))
            }
        });
    }

    /// Waits until a JavaScript expression is true. `wanted` says in words what it means.
    #[track_caller]
    pub fn wait_until(&self, wanted: &str, expression: &str) {
        let body = format!("return ({expression})");
        wait::until(wanted, || match self.session.execute(&body, json!([])) {
            Ok(Value::Bool(true)) => Ok(()),
            Ok(value) => Err(value.to_string()),
            Err(refusal) => Err(refusal.to_string()),
        });
    }

    /// How many elements match now, without waiting.
    #[track_caller]
    pub fn count(&self, selector: &str) -> u64 {
        let body = "return document.querySelectorAll(arguments[0]).length";
        let count = must(
            "count elements",
            self.session.execute(body, json!([selector])),
        );
        count.as_u64().expect("a length is a whole number")
    }

    /// The value of a JavaScript expression in the page.
    #[track_caller]
    pub fn eval(&self, expression: &str) -> Value {
        let body = format!("return ({expression})");
        must(expression, self.session.execute(&body, json!([])))
    }

    /// Presses a key such as `ArrowRight`, `j` or `Shift+Tab` where the focus is.
    #[track_caller]
    pub fn key(&self, name: &str) {
        let presses = keys::presses(name);
        let down = presses
            .iter()
            .map(|key| json!({ "type": "keyDown", "value": key }));
        let up = presses
            .iter()
            .rev()
            .map(|key| json!({ "type": "keyUp", "value": key }));
        let actions: Vec<Value> = down.chain(up).collect();
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": actions });
        must(
            name,
            self.session
                .post("/actions", json!({ "actions": [keyboard] })),
        );
    }

    /// Errors that the browser's console has shown since the last call: uncaught exceptions,
    /// `console.error`, files that could not be loaded.
    #[track_caller]
    pub fn console_errors(&self) -> Vec<String> {
        let log = must(
            "read the console",
            self.session.post("/se/log", json!({ "type": "browser" })),
        );
        let entries = log.as_array().expect("the log is a list");
        let errors = entries.iter().filter(|entry| entry["level"] == "SEVERE");
        errors.map(|entry| entry["message"].to_string()).collect()
    }

    /// Lets the visitor's system prefer `light` or `dark`.
    #[track_caller]
    pub fn prefer(&self, theme: &str) {
        let feature = json!({ "name": "prefers-color-scheme", "value": theme });
        let media = json!({ "features": [feature] });
        let set = self.session.devtools("Emulation.setEmulatedMedia", media);
        must("prefer a theme", set);
    }

    /// The barriers that axe finds in the page as it is now: the rules of WCAG 2.2 AA and its best
    /// practices, one line for each element, with the rule, the element and what is wrong.
    #[track_caller]
    pub fn barriers(&self) -> Vec<String> {
        if self.eval("typeof axe") == "undefined" {
            must("load axe", self.session.execute(&axe(), json!([])));
        }
        let found = self.eval(BARRIERS);
        let lines = found.as_array().expect("a list of lines").iter();
        lines
            .map(|line| line.as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// What the browser finds wrong with the page's manifest, and the manifest's address.
    #[track_caller]
    pub fn manifest(&self) -> (Vec<String>, String) {
        let manifest = self.session.devtools("Page.getAppManifest", json!({}));
        let manifest = must("read the manifest", manifest);
        let errors = manifest["errors"].as_array().into_iter().flatten();
        let address = manifest["url"].as_str().unwrap_or_default();
        (errors.map(Value::to_string).collect(), address.to_owned())
    }

    /// Makes the page this many CSS pixels wide. Narrower than a window can be is possible.
    #[track_caller]
    pub fn set_width(&self, width: u32) {
        let metrics =
            json!({ "width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": false });
        must(
            "set the width",
            self.session
                .devtools("Emulation.setDeviceMetricsOverride", metrics),
        );
    }

    /// Shows the page as on a medium, `screen` or `print`, to a visitor with a preference, such as
    /// `("prefers-color-scheme", "dark")`.
    #[track_caller]
    pub fn set_media(&self, medium: &str, (feature, value): (&str, &str)) {
        let features = json!([{ "name": feature, "value": value }]);
        must(
            "set the medium",
            self.session.devtools(
                "Emulation.setEmulatedMedia",
                json!({ "media": medium, "features": features }),
            ),
        );
    }

    /// Allows the page to read and to write the clipboard.
    #[track_caller]
    pub fn allow_clipboard(&self) {
        let permissions =
            json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
        must(
            "allow the clipboard",
            self.session
                .devtools("Browser.grantPermissions", permissions),
        );
    }

    /// The page as it would be printed, on the paper that its style sheet asks for, as PDF.
    #[track_caller]
    pub fn print(&self) -> Vec<u8> {
        let parameters = json!({ "preferCSSPageSize": true });
        let printed = must(
            "print",
            self.session.devtools("Page.printToPDF", parameters),
        );
        let data = printed["data"].as_str();
        BASE64_STANDARD
            .decode(data.expect("a document is text in base64"))
            .expect("a document is text in base64")
    }

    /// Takes pictures of the whole page, one a width, as `target/screenshots/NAME-WIDTH.png`.
    /// The page is 1440 pixels wide afterwards.
    #[track_caller]
    pub fn screenshot(&self, name: &str) {
        let folder = repository().join("target").join("screenshots");
        fs::create_dir_all(&folder).expect("target/ can be written to");
        for width in WIDTHS {
            self.set_width(width);
            let path = folder.join(format!("{name}-{width}.png"));
            fs::write(path, self.picture()).expect("target/ can be written to");
        }
        self.set_width(WIDTHS[0]);
    }

    #[track_caller]
    fn picture(&self) -> Vec<u8> {
        let layout = must(
            "measure",
            self.session.devtools("Page.getLayoutMetrics", json!({})),
        );
        let size = &layout["cssContentSize"];
        let clip = json!({
            "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1,
        });
        let parameters = json!({ "captureBeyondViewport": true, "clip": clip });
        let picture = self.session.devtools("Page.captureScreenshot", parameters);
        let picture = must("take a picture", picture);
        let data = picture["data"]
            .as_str()
            .expect("a picture is text in base64");
        BASE64_STANDARD
            .decode(data)
            .expect("a picture is text in base64")
    }

    /// Finds an element and uses it. Begins anew if the page changed in between.
    #[track_caller]
    fn with_element<T>(
        &self,
        wanted: &str,
        selector: &str,
        mut act: impl FnMut(&Element) -> Result<T, Refusal>,
    ) -> T {
        wait::until(wanted, || {
            let element = self.session.element(selector);
            element
                .and_then(|element| act(&element))
                .map_err(|refusal| refusal.to_string())
        })
    }
}

/// Runs axe, and makes a line of what each rule says about each element. What axe cannot decide is no line.
const BARRIERS: &str = "axe.run(document, { runOnly: [
    'wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'
] }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(node =>
    `${id}: ${node.target.join(' ')}: ${node.failureSummary.replace(/\\s+/g, ' ')}`)))";

/// axe's own code.
fn axe() -> String {
    let home = env::var_os("AXE");
    let home =
        home.expect("`AXE` names the package's folder: run `cargo xtask test`, which sets it");
    let file = Path::new(&home).join("node_modules/axe-core/axe.min.js");
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

#[track_caller]
fn must<T>(what: &str, result: Result<T, Refusal>) -> T {
    result.unwrap_or_else(|refusal| panic!("{what}: {refusal}"))
}
