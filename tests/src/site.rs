//! Serves a folder on 127.0.0.1, as a plain web host would.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use tiny_http::{Header, Request, Response, Server};

/// Where the folder appears on the server. Not the root: a built page must work anywhere.
const MOUNT: &str = "/course/week-3/";

/// A running server. Dropping it stops the server.
pub struct Site {
    server: Arc<Server>,
    worker: Option<JoinHandle<()>>,
}

impl Site {
    /// Serves the folder on a free port.
    ///
    /// # Panics
    /// If the folder has no `index.html`.
    pub fn serve(folder: &Path) -> Site {
        assert!(
            folder.join("index.html").is_file(),
            "{} has no index.html: run `cargo xtask test`, which builds the page first",
            folder.display()
        );
        let server = Server::http("127.0.0.1:0").expect("the loopback interface has a free port");
        let server = Arc::new(server);
        let (listener, folder) = (Arc::clone(&server), folder.to_owned());
        let worker = std::thread::spawn(move || {
            listener
                .incoming_requests()
                .for_each(|request| answer(request, &folder));
        });
        Site {
            server,
            worker: Some(worker),
        }
    }

    /// The address of the folder's `index.html`.
    pub fn address(&self) -> String {
        format!("http://{}{MOUNT}", self.server.server_addr())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(worker) = self.worker.take() {
            worker.join().ok(); // a panic of the worker was already printed
        }
    }
}

fn answer(request: Request, folder: &Path) {
    let content = file_of(request.url(), folder).and_then(|path| {
        let bytes = fs::read(&path).ok()?;
        Some((bytes, media_type(&path)))
    });
    let sent = match content {
        None => request.respond(Response::empty(404)),
        Some((bytes, media_type)) => {
            let header = Header::from_bytes("Content-Type", media_type);
            let header = header.expect("media types are plain ASCII");
            request.respond(Response::from_data(bytes).with_header(header))
        }
    };
    sent.ok(); // the browser may have closed the connection
}

/// The file that a request's path names, if the path stays inside the folder.
fn file_of(url: &str, folder: &Path) -> Option<PathBuf> {
    let path = url.split(['?', '#']).next()?;
    let name = match path.strip_prefix(MOUNT)? {
        "" => "index.html",
        name => name,
    };
    let stays_inside = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    stays_inside.then(|| folder.join(name))
}

/// Browsers compile a module while it arrives only if it is called `application/wasm`.
fn media_type(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(url: &str) -> Option<PathBuf> {
        file_of(url, Path::new("dist"))
    }

    #[test]
    fn the_mount_point_is_the_index() {
        assert_eq!(
            found("/course/week-3/"),
            Some(PathBuf::from("dist/index.html"))
        );
        assert_eq!(
            found("/course/week-3/app.js?v=2"),
            Some(PathBuf::from("dist/app.js"))
        );
    }

    #[test]
    fn nothing_outside_the_folder_is_served() {
        assert_eq!(found("/course/week-3/../secret"), None);
        assert_eq!(found("/course/week-3//etc/hosts"), None);
        assert_eq!(found("/app.js"), None);
    }
}
