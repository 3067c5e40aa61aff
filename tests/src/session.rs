//! A WebDriver session with chromedriver: JSON over HTTP, as the W3C recommendation has it.
//!
//! A dozen of the protocol's commands are enough here, so this is the protocol itself and no
//! client library with a runtime of its own.

use std::env;
use std::fmt;

use serde_json::{Value, json};
use ureq::Agent;

use crate::wait::PATIENCE;

/// The key under which WebDriver hands out the reference to an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// One browser window. Dropping it closes the browser.
pub struct Session {
    agent: Agent,
    address: String,
}

/// Why chromedriver refused a command.
#[derive(Debug)]
pub struct Refusal {
    /// The error code of the protocol, such as `no such element`.
    pub code: String,
    /// The first line of the explanation.
    pub message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.code, self.message)
    }
}

/// The reference to an element of the page as it is now.
pub struct Element(String);

impl Session {
    /// Opens a browser that prefers the given language.
    ///
    /// # Panics
    /// If the browser does not start.
    pub fn open(driver: &str, language: &str) -> Session {
        let agent = Agent::new_with_config(
            Agent::config_builder()
                .timeout_global(Some(2 * PATIENCE))
                .http_status_as_error(false)
                .proxy(None)
                .build(),
        );
        let mut session = Session {
            agent,
            address: format!("{driver}/session"),
        };
        let answer = session.post("", json!({ "capabilities": capabilities(language) }));
        let answer = answer.unwrap_or_else(|refusal| panic!("Chromium does not start: {refusal}"));
        let id = answer["sessionId"]
            .as_str()
            .expect("a new session has an id");
        session.address = format!("{driver}/session/{id}");
        session
    }

    /// Sends a command that only asks.
    pub fn get(&self, path: &str) -> Result<Value, Refusal> {
        let request = self.agent.get(format!("{}{path}", self.address));
        value_of(request.call())
    }

    /// Sends a command.
    pub fn post(&self, path: &str, body: Value) -> Result<Value, Refusal> {
        let request = self.agent.post(format!("{}{path}", self.address));
        value_of(request.send_json(body))
    }

    /// The first element that a CSS selector matches.
    pub fn element(&self, selector: &str) -> Result<Element, Refusal> {
        let found = self.post(
            "/element",
            json!({ "using": "css selector", "value": selector }),
        )?;
        let id = found[ELEMENT].as_str().expect("an element has a reference");
        Ok(Element(id.to_owned()))
    }

    /// The element that a JavaScript expression is, be it in a shadow.
    pub fn element_of(&self, expression: &str) -> Result<Element, Refusal> {
        let found = self.execute(&format!("return ({expression})"), json!([]))?;
        let id = found[ELEMENT].as_str().ok_or_else(|| Refusal {
            code: "no such element".to_owned(),
            message: format!("`{expression}` is {found}"),
        })?;
        Ok(Element(id.to_owned()))
    }

    /// Scrolls to an element and clicks its middle, as a mouse would.
    pub fn click(&self, element: &Element) -> Result<(), Refusal> {
        self.post(&format!("/element/{}/click", element.0), json!({}))
            .map(drop)
    }

    /// Moves the pointer to the middle of an element.
    pub fn hover(&self, element: &Element) -> Result<(), Refusal> {
        let there =
            json!({ "type": "pointerMove", "origin": { ELEMENT: element.0 }, "x": 0, "y": 0 });
        let mouse = json!({ "type": "pointer", "id": "mouse", "actions": [there] });
        self.post("/actions", json!({ "actions": [mouse] }))
            .map(drop)
    }

    /// The text of an element as the page shows it.
    pub fn text(&self, element: &Element) -> Result<String, Refusal> {
        let text = self.get(&format!("/element/{}/text", element.0))?;
        Ok(text.as_str().expect("a text is a string").to_owned())
    }

    /// Turns to the document in a frame.
    pub fn enter_frame(&self, element: &Element) -> Result<(), Refusal> {
        let frame = json!({ "id": { ELEMENT: element.0 } });
        self.post("/frame", frame).map(drop)
    }

    /// Turns to the document of the window.
    pub fn leave_frames(&self) -> Result<(), Refusal> {
        self.post("/frame", json!({ "id": null })).map(drop)
    }

    /// Runs the body of a JavaScript function in the page and returns its result.
    pub fn execute(&self, body: &str, arguments: Value) -> Result<Value, Refusal> {
        self.post(
            "/execute/sync",
            json!({ "script": body, "args": arguments }),
        )
    }

    /// Sends a command of the Chrome DevTools protocol.
    pub fn devtools(&self, command: &str, parameters: Value) -> Result<Value, Refusal> {
        self.post(
            "/goog/cdp/execute",
            json!({ "cmd": command, "params": parameters }),
        )
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.agent.delete(&self.address).call().ok(); // the browser may be gone already
    }
}

/// A quiet headless Chromium that also runs as root in a container with little shared memory.
fn capabilities(language: &str) -> Value {
    let mut options = json!({ "args": [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--no-first-run",
        "--window-size=1440,900",
        format!("--lang={language}"),
        format!("--accept-lang={language}"),
    ] });
    if let Ok(browser) = env::var("CHROME_BIN") {
        options["binary"] = Value::String(browser);
    }
    json!({ "alwaysMatch": {
        "browserName": "chrome",
        "goog:chromeOptions": options,
        "goog:loggingPrefs": { "browser": "ALL" },
    } })
}

fn value_of(
    response: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
) -> Result<Value, Refusal> {
    let answer = response.and_then(|mut response| response.body_mut().read_json::<Value>());
    let mut answer = answer.map_err(|error| Refusal {
        code: "chromedriver does not answer".to_owned(),
        message: error.to_string(),
    })?;
    let value = answer["value"].take();
    match value["error"].as_str() {
        None => Ok(value),
        Some(code) => {
            let message = value["message"]
                .as_str()
                .and_then(|text| text.lines().next());
            Err(Refusal {
                code: code.to_owned(),
                message: message.unwrap_or_default().to_owned(),
            })
        }
    }
}
