//! A relay's publisher over RabbitMQ, which waits for the broker's own word on each message.

use std::io;
use std::time::Duration;

use deliver_twice_core::outbox::Lease;
use deliver_twice_core::relay::{Confirm, Frame, Publisher};
use lapin::{Channel, Confirmation, Connection, ConnectionProperties};
use tokio::runtime::{Builder, Runtime};

use crate::broker;

/// Publishes to one routing key of the default exchange.
pub struct RabbitPublisher {
    runtime: Runtime,
    /// Kept, because the channel ends with it.
    _connection: Connection,
    channel: Channel,
    routing_key: String,
    /// How long the broker's word is waited for.
    patience: Duration,
}

impl RabbitPublisher {
    /// Connects, and asks for confirms.
    ///
    /// # Errors
    /// Those of the broker and of the network.
    pub fn connect(url: &str, routing_key: &str, patience: Duration) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let connected = runtime.block_on(async {
            let connection = Connection::connect(url, ConnectionProperties::default()).await?;
            let channel = connection.create_channel().await?;
            broker::ask_for_confirms(&channel).await?;
            Ok::<_, lapin::Error>((connection, channel))
        });
        let (connection, channel) = connected.map_err(io::Error::other)?;
        Ok(RabbitPublisher {
            runtime,
            _connection: connection,
            channel,
            routing_key: routing_key.to_owned(),
            patience,
        })
    }
}

impl Publisher for RabbitPublisher {
    fn publish(&mut self, lease: &Lease) -> Confirm {
        let said = self.runtime.block_on(async {
            let event_id = lease.event_id.as_str();
            let said = broker::publish(&self.channel, &self.routing_key, event_id, &lease.payload);
            tokio::time::timeout(self.patience, said).await
        });
        match said {
            Ok(Ok(confirmation)) => Confirm::of(frames(&confirmation)),
            // A broken connection and a broker that takes its time are alike: nothing was heard.
            Ok(Err(_)) | Err(_) => Confirm::NoAnswer,
        }
    }
}

/// The frames that a confirmation was made of.
fn frames(confirmation: &Confirmation) -> &'static [Frame] {
    match confirmation {
        Confirmation::Ack(None) => &[Frame::Ack],
        Confirmation::Ack(Some(_)) => &[Frame::Return, Frame::Ack],
        Confirmation::Nack(None) => &[Frame::Nack],
        Confirmation::Nack(Some(_)) => &[Frame::Return, Frame::Nack],
        Confirmation::NotRequested => &[],
    }
}
