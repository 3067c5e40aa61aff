//! Serves a folder on 127.0.0.1, as a plain web host would.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// Where the folder appears on the server. Not the root: a built page must work anywhere.
const MOUNT: &str = "/course/week-3/";

/// A running server. Dropping it stops the server.
///
/// A connection has a thread of its own and is closed after one answer, so none ever waits for another.
pub struct Site {
    address: SocketAddr,
    // `None` once it was stopped.
    listener: Option<JoinHandle<()>>,
    desk: Arc<Desk>,
}

/// What the connections share.
struct Desk {
    folder: PathBuf,
    policy: Option<String>,
    asked: Mutex<Vec<String>>,
    is_closed: AtomicBool,
}

impl Site {
    /// Serves the folder on a free port, under a content security policy if there is one.
    ///
    /// # Panics
    /// If the folder has no `index.html`.
    pub fn serve(folder: &Path, policy: Option<&str>) -> Site {
        assert!(
            folder.join("index.html").is_file(),
            "{} has no index.html: run `cargo xtask test`, which builds the page first",
            folder.display()
        );
        let listener = TcpListener::bind("127.0.0.1:0");
        let listener = listener.expect("the loopback interface has a free port");
        let address = listener.local_addr().expect("it is bound to a port");
        let desk = Arc::new(Desk {
            folder: folder.to_owned(),
            policy: policy.map(str::to_owned),
            asked: Mutex::default(),
            is_closed: AtomicBool::new(false),
        });
        let listener = {
            let desk = Arc::clone(&desk);
            thread::spawn(move || listen(&listener, &desk))
        };
        Site {
            address,
            listener: Some(listener),
            desk,
        }
    }

    /// The address of the folder's `index.html`.
    pub fn address(&self) -> String {
        format!("http://{}{MOUNT}", self.address)
    }

    /// What was asked for since the last call: paths, in order.
    pub fn take_asked(&self) -> Vec<String> {
        let asked = self.desk.asked.lock();
        std::mem::take(&mut asked.unwrap_or_else(PoisonError::into_inner))
    }

    /// Stops the server: from now on a browser cannot reach it.
    pub fn stop(&mut self) {
        let Some(listener) = self.listener.take() else {
            return;
        };
        self.desk.is_closed.store(true, Ordering::Release);
        TcpStream::connect(self.address).ok(); // wakes the listener, which then looks
        listener.join().ok(); // a panic of the listener was already printed
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop();
    }
}

fn listen(listener: &TcpListener, desk: &Arc<Desk>) {
    for connection in listener.incoming().map_while(Result::ok) {
        if desk.is_closed.load(Ordering::Acquire) {
            return;
        }
        let desk = Arc::clone(desk);
        // A browser may close a connection whenever it likes.
        thread::spawn(move || desk.answer(&connection).ok());
    }
}

impl Desk {
    /// Answers one request and closes the connection.
    fn answer(&self, mut connection: &TcpStream) -> io::Result<()> {
        let mut head = BufReader::new(connection).lines();
        let request = head.next().transpose()?.unwrap_or_default();
        let Some(url) = request.split(' ').nth(1) else {
            return Ok(()); // opened in advance, and not used
        };
        for line in head {
            if line?.is_empty() {
                break;
            }
        }
        let asked = self.asked.lock();
        let mut asked = asked.unwrap_or_else(PoisonError::into_inner);
        asked.push(url.to_owned());
        drop(asked);
        let file = file_of(url, &self.folder);
        let content = file.and_then(|path| Some((media_type(&path), fs::read(&path).ok()?)));
        let (status, media_type, content) = match content {
            Some((media_type, content)) => ("200 OK", media_type, content),
            None => ("404 Not Found", "text/plain", vec![]),
        };
        let length = content.len();
        // As public hosts do, it lets its files into frames of an opaque origin.
        write!(
            connection,
            "HTTP/1.1 {status}\r\nConnection: close\r\nAccess-Control-Allow-Origin: *\r\n\
             Content-Type: {media_type}\r\nContent-Length: {length}\r\n"
        )?;
        if let Some(policy) = &self.policy {
            write!(connection, "Content-Security-Policy: {policy}\r\n")?;
        }
        connection.write_all(b"\r\n")?;
        connection.write_all(&content)
    }
}

/// The file that a request's path names, if the path stays inside the folder.
fn file_of(url: &str, folder: &Path) -> Option<PathBuf> {
    let path = url.split(['?', '#']).next()?;
    let name = path.strip_prefix(MOUNT)?;
    let stays_inside = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let is_folder = name.is_empty() || name.ends_with('/');
    let file = folder.join(name);
    stays_inside.then(|| {
        if is_folder {
            file.join("index.html")
        } else {
            file
        }
    })
}

/// Browsers compile a module while it arrives only if it is called `application/wasm`.
fn media_type(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("json" | "webmanifest") => "application/json",
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
    fn a_folder_is_its_index() {
        assert_eq!(
            found("/course/week-3/"),
            Some(PathBuf::from("dist/index.html"))
        );
        assert_eq!(
            found("/course/week-3/app.js?v=2"),
            Some(PathBuf::from("dist/app.js"))
        );
        assert_eq!(
            found("/course/week-3/lab/?embed=1"),
            Some(PathBuf::from("dist/lab/index.html"))
        );
    }

    #[test]
    fn nothing_outside_the_folder_is_served() {
        assert_eq!(found("/course/week-3/../secret"), None);
        assert_eq!(found("/course/week-3//etc/hosts"), None);
        assert_eq!(found("/app.js"), None);
    }
}
