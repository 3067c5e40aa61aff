//! A cable to the broker that can be cut between a message and its confirm.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// Carries one connection to a server, both ways, until it is deafened or cut.
pub struct Cable {
    port: u16,
    is_deaf: Arc<AtomicBool>,
    ends: Arc<Mutex<Vec<TcpStream>>>,
}

impl Cable {
    /// A cable to the server at this address, waiting for one connection.
    ///
    /// # Errors
    /// Those of the network.
    pub fn to(address: &str) -> io::Result<Cable> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let cable = Cable {
            port: listener.local_addr()?.port(),
            is_deaf: Arc::default(),
            ends: Arc::default(),
        };
        let (address, is_deaf) = (address.to_owned(), Arc::clone(&cable.is_deaf));
        let ends = Arc::clone(&cable.ends);
        thread::spawn(move || -> io::Result<()> {
            let (near, _) = listener.accept()?;
            let far = TcpStream::connect(address)?;
            ends.lock()
                .expect("no thread panics while it has the ends")
                .extend([near.try_clone()?, far.try_clone()?]);
            let (near_too, far_too) = (near.try_clone()?, far.try_clone()?);
            thread::spawn(move || carry(near_too, far_too, &AtomicBool::new(false)));
            carry(far, near, &is_deaf);
            Ok(())
        });
        Ok(cable)
    }

    /// The port on this machine at which the cable begins.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// From now on nothing of what the server says arrives.
    pub fn deafen(&self) {
        self.is_deaf.store(true, Ordering::SeqCst);
    }

    /// Cuts it: both ends see the connection closed.
    pub fn cut(&self) {
        let ends = self.ends.lock();
        for end in ends.expect("no thread panics while it has the ends").iter() {
            // An end that is closed already is cut.
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

/// Copies what comes until one side is closed.
fn carry(mut from: TcpStream, mut to: TcpStream, is_deaf: &AtomicBool) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if !is_deaf.load(Ordering::SeqCst) && to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
