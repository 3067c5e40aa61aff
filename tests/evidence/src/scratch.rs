//! A corner of each server for one test alone, so that tests run beside each other.

use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lapin::options::{QueueDeclareOptions, QueueDeleteOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{Channel, Connection, ConnectionProperties};
use tokio_postgres::{Client, Config, NoTls};

use crate::servers::{Engine, say_not_run};

/// A name that no other test and no other run has now.
pub fn unique_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("deliver_twice_{}_{count}", process::id())
}

/// A schema of its own in PostgreSQL. It is dropped with this value, and so is every session in it.
#[derive(Debug)]
pub struct Schema {
    name: String,
    config: Config,
    url: String,
}

impl Schema {
    /// An empty schema; `None`, once that is said aloud, if PostgreSQL is not there.
    ///
    /// # Panics
    /// If PostgreSQL is there or has to be, and the schema cannot be made.
    pub async fn open() -> Option<Schema> {
        let url = match Engine::PostgreSql.url() {
            Ok(url) => url,
            Err(why) => {
                say_not_run(&why);
                return None;
            }
        };
        let name = unique_name();
        let mut config: Config = url
            .parse()
            .unwrap_or_else(|error| panic!("DATABASE_URL: {error}"));
        config
            .connect_timeout(Duration::from_secs(10))
            .application_name(&name)
            .options(format!("-c search_path={name}"));
        let schema = Schema { name, config, url };
        let session = schema.session().await;
        session
            .batch_execute(&format!("CREATE SCHEMA {}", schema.name))
            .await
            .expect("a superuser may make a schema");
        Some(schema)
    }

    /// A new session in this schema.
    ///
    /// # Panics
    /// If the server refuses.
    pub async fn session(&self) -> Client {
        let (client, connection) = self.config.connect(NoTls).await.unwrap_or_else(|error| {
            panic!(
                "PostgreSQL is there and does not let us in ({}): {error}",
                self.url
            )
        });
        // Ends with the client. Its error is one that every call on the client reports too.
        tokio::spawn(connection);
        client
    }

    /// A new session in this schema whose client blocks. Not to be opened from within a runtime.
    ///
    /// # Errors
    /// The server's.
    pub fn blocking_session(&self) -> Result<postgres::Client, postgres::Error> {
        let config: postgres::Config = self.config.clone().into();
        config.connect(postgres::NoTls)
    }

    /// How to connect to this schema: for a client of another kind, or another process.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The schema's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The URL of the server, without the schema.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Schema {
    /// Ends the sessions that a failed test left in a transaction, then drops what they made.
    fn drop(&mut self) {
        let mut config: postgres::Config = self.config.clone().into();
        config.application_name("deliver_twice_sweeper");
        let name = self.name.clone();
        // A thread of its own: the caller may be inside a runtime, where a blocking client may not run.
        let swept = std::thread::spawn(move || {
            let mut client = config.connect(postgres::NoTls)?;
            client.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = $1",
                &[&name],
            )?;
            client.batch_execute(&format!("DROP SCHEMA IF EXISTS {name} CASCADE"))
        });
        if let Ok(Err(error)) = swept.join() {
            crate::servers::say(&format!("schema {} was left behind: {error}", self.name));
        }
    }
}

/// A queue of its own on RabbitMQ. The broker deletes it when nobody has used it for two minutes.
#[derive(Debug)]
pub struct Queue {
    name: String,
    url: String,
}

impl Queue {
    /// An empty queue; `None`, once that is said aloud, if RabbitMQ is not there.
    ///
    /// # Panics
    /// If RabbitMQ is there or has to be, and the queue cannot be made.
    pub async fn open() -> Option<Queue> {
        Queue::with_arguments(&[]).await
    }

    /// The same, with arguments such as `x-max-length`.
    ///
    /// # Panics
    /// As for [`Queue::open`].
    pub async fn with_arguments(arguments: &[(&str, AMQPValue)]) -> Option<Queue> {
        let url = match Engine::RabbitMq.url() {
            Ok(url) => url,
            Err(why) => {
                say_not_run(&why);
                return None;
            }
        };
        let queue = Queue {
            name: unique_name(),
            url,
        };
        let (connection, channel) = queue.channel().await;
        let mut table = FieldTable::default();
        table.insert("x-expires".into(), AMQPValue::LongInt(120_000));
        for (name, value) in arguments {
            table.insert((*name).into(), value.clone());
        }
        channel
            .queue_declare(
                queue.name.as_str().into(),
                QueueDeclareOptions::default(),
                table,
            )
            .await
            .expect("a queue of a new name can be declared");
        close(connection).await;
        Some(queue)
    }

    /// A new connection to the broker, and a channel on it.
    ///
    /// # Panics
    /// If the broker refuses.
    pub async fn channel(&self) -> (Connection, Channel) {
        let connect = Connection::connect(&self.url, ConnectionProperties::default());
        let connection = connect.await.unwrap_or_else(|error| {
            panic!(
                "RabbitMQ is there and does not let us in ({}): {error}",
                self.url
            )
        });
        let channel = connection.create_channel().await;
        (connection, channel.expect("a new connection has channels"))
    }

    /// The queue's name, which is also its routing key on the default exchange.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The URL of the broker.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Deletes the queue now.
    pub async fn delete(self) {
        let (connection, channel) = self.channel().await;
        let _ = channel
            .queue_delete(self.name.as_str().into(), QueueDeleteOptions::default())
            .await;
        close(connection).await;
    }
}

/// Closes a connection and waits until the broker knows.
pub async fn close(connection: Connection) {
    // One that the broker has closed already is closed.
    let _ = connection.close(200, "done".into()).await;
}
