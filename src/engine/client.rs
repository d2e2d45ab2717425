//! The connection to an engine: one query at a time, each answer batch by batch, no wait without an end.

use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_flight::FlightEndpoint;
use arrow_flight::error::FlightError;
use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::sql::client::FlightSqlServiceClient;
use futures::StreamExt;
use tokio::runtime::{Builder, Runtime};
use tonic::Code;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};

use super::address::Address;
use super::engine_error::{EngineError, shortened};

/// Largest message of an engine. Engines send batches of a few megabytes; a text as long as a run's record may be in one.
const MOST_MESSAGE_BYTES: usize = 256 << 20;
const LONGEST_CONNECT: Duration = Duration::from_secs(20);
/// The address in an answer that means: on this connection.
const SAME_CONNECTION: &str = "arrow-flight-reuse-connection:";

/// Where an engine is, and how it is asked.
#[derive(Clone)]
pub struct Access {
    pub address: Address,
    /// Sent as `authorization: Bearer`.
    pub token: Option<String>,
    /// Longest wait for the engine's next message.
    pub wait: Duration,
}

/// An open connection.
pub(super) struct Client {
    runtime: Runtime,
    flight: FlightSqlServiceClient<Channel>,
    access: Access,
}

impl Client {
    /// Connects.
    ///
    /// # Errors
    ///
    /// Says why there is no connection, also if none is made in time.
    pub fn connect(access: &Access) -> Result<Self, EngineError> {
        let Access { address, token, wait } = access;
        if token.is_some() && !address.is_tls && !address.is_here {
            return Err(EngineError::new(format!("the token is not sent to {address}: the connection would not be encrypted"))
                .with_hint("use grpc+tls://"));
        }
        let no_connection =
            |why: &dyn std::fmt::Display| EngineError::new(format!("no connection to {address}: {}", shortened(&why.to_string())));
        let mut endpoint = Endpoint::from_shared(address.uri())
            .and_then(|endpoint| endpoint.user_agent(concat!("evalreport/", env!("CARGO_PKG_VERSION"))))
            .map_err(|error| no_connection(&error))?
            .connect_timeout(LONGEST_CONNECT.min(*wait))
            .tcp_nodelay(true);
        if address.is_tls {
            let tls = ClientTlsConfig::new().with_native_roots();
            endpoint = endpoint.tls_config(tls).map_err(|error| no_connection(&error))?;
        }
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| no_connection(&error))?;
        let connected = runtime.block_on(async { tokio::time::timeout(LONGEST_CONNECT.min(*wait), endpoint.connect()).await });
        let channel = match connected {
            Ok(Ok(channel)) => channel,
            Ok(Err(error)) => return Err(no_connection(&causes(&error)).with_hint("is the engine running, and is the address right?")),
            Err(_) => return Err(no_connection(&format!("none within {} s", LONGEST_CONNECT.min(*wait).as_secs_f64()))),
        };
        let inner = FlightServiceClient::new(channel).max_decoding_message_size(MOST_MESSAGE_BYTES);
        let mut flight = FlightSqlServiceClient::new_from_inner(inner);
        if let Some(token) = token {
            flight.set_token(token.clone());
        }
        Ok(Self { runtime, flight, access: access.clone() })
    }

    /// Asks one query and hands each batch of its answer on. `name` is the query in messages.
    ///
    /// # Errors
    ///
    /// Names the query and says why the answer is not whole.
    pub fn ask(
        &mut self,
        name: &str,
        sql: String,
        each: &mut dyn FnMut(&RecordBatch) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let Self { runtime, flight, access } = self;
        let asking = AssertUnwindSafe(|| runtime.block_on(answer(flight, access, name, sql, each)));
        IS_DECODING.set(true);
        let answered = catch_unwind(asking);
        IS_DECODING.set(false);
        // Decoders of columns panic if parts of a message contradict each other.
        answered.unwrap_or_else(|_| Err(EngineError::new(format!("{name}: the answer of {} is damaged", access.address))))
    }
}

thread_local! {
    static IS_DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread decodes an engine's answer. A panic there is reported as a problem of the answer.
pub fn is_decoding() -> bool {
    IS_DECODING.get()
}

async fn answer(
    flight: &mut FlightSqlServiceClient<Channel>,
    access: &Access,
    name: &str,
    sql: String,
    each: &mut dyn FnMut(&RecordBatch) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let failed = |error: FlightError| refused(&access.address, name, &error);
    let information = in_time(access, name, flight.execute(sql, None)).await?.map_err(failed)?;
    for endpoint in information.endpoint {
        check_place(&access.address, name, &endpoint)?;
        let Some(ticket) = endpoint.ticket else {
            return Err(EngineError::new(format!("{name}: {} promised an answer without a ticket", access.address)));
        };
        let mut batches = in_time(access, name, flight.do_get(ticket)).await?.map_err(failed)?;
        while let Some(batch) = in_time(access, name, batches.next()).await? {
            each(&batch.map_err(failed)?)?;
        }
    }
    Ok(())
}

/// Waits as long as the user allows for one message.
async fn in_time<T>(access: &Access, name: &str, message: impl Future<Output = T>) -> Result<T, EngineError> {
    tokio::time::timeout(access.wait, message).await.map_err(|_| {
        EngineError::new(format!("{name}: {} sent nothing for {} s", access.address, access.wait.as_secs_f64()))
            .with_hint("--engine-timeout SECONDS waits longer")
    })
}

/// Refuses answers that are to be fetched elsewhere: only the engine that the user named is asked, and gets the token.
fn check_place(address: &Address, name: &str, endpoint: &FlightEndpoint) -> Result<(), EngineError> {
    match endpoint.location.iter().find(|location| !location.uri.is_empty() && !location.uri.starts_with(SAME_CONNECTION)) {
        Some(elsewhere) if endpoint.location.iter().all(|location| location.uri != address.to_string()) => {
            Err(EngineError::new(format!("{name}: {address} keeps its answer at `{}`, which is not asked", shortened(&elsewhere.uri)))
                .with_hint("let the engine hand out answers itself, or name that address"))
        }
        _ => Ok(()),
    }
}

fn refused(address: &Address, name: &str, error: &FlightError) -> EngineError {
    let FlightError::Tonic(status) = error else {
        return EngineError::new(format!("{name}: the answer of {address} cannot be read: {}", shortened(&error.to_string())));
    };
    let said = shortened(status.message());
    // An engine's own answer has no cause on this side.
    let broke = std::error::Error::source(status.as_ref()).is_some();
    match status.code() {
        _ if broke => {
            EngineError::new(format!("{name}: the connection to {address} broke: {said}")).with_hint("try again when the engine is up")
        }
        Code::Unauthenticated | Code::PermissionDenied => {
            EngineError::new(format!("{name}: {address} refuses: {said}")).with_hint("EVALREPORT_ENGINE_TOKEN holds the token that is sent")
        }
        Code::Unavailable | Code::Cancelled | Code::Aborted => {
            EngineError::new(format!("{name}: the connection to {address} broke: {said}")).with_hint("try again when the engine is up")
        }
        Code::Unimplemented => EngineError::new(format!("{name}: {address} is no Arrow Flight SQL server: {said}")),
        _ => EngineError::new(format!("{name}: {address} answers with an error: {said}"))
            .with_hint("the engine needs two tables or views, `runs` and `outcomes`: see `evalreport help engines`"),
    }
}

/// Returns an error with its causes, because the outermost says only "transport error".
fn causes(error: &dyn std::error::Error) -> String {
    let mut said: Vec<String> = Vec::new();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if said.last().is_none_or(|last| !last.contains(&text)) {
            said.push(text);
        }
        cause = error.source();
    }
    if said.is_empty() { error.to_string() } else { said.join(": ") }
}
