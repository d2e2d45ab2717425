//! The connection to an engine: one query at a time, each answer batch by batch, no wait without an end.

use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_flight::FlightEndpoint;
use arrow_flight::decode::FlightRecordBatchStream;
use arrow_flight::error::FlightError;
use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::sql::client::FlightSqlServiceClient;
use futures::{StreamExt, TryStreamExt};
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, IntoRequest};

use super::address::EngineAddress;
use super::bounds::{AnswerMeter, MAX_MESSAGE_BYTES};
use super::engine_error::{EngineError, shorten_message};
use super::queries::EngineQuery;

const MAX_CONNECT: Duration = Duration::from_secs(20);
/// The address in an answer that means: on this connection.
const SAME_CONNECTION: &str = "arrow-flight-reuse-connection:";

/// Where an engine is, and how it is asked.
#[derive(Clone)]
pub struct EngineAccess {
    pub address: EngineAddress,
    /// Sent as `authorization: Bearer`.
    pub token: Option<String>,
    /// Longest wait for the engine's next rows.
    pub wait: Duration,
    /// Longest time for all answers together.
    pub total: Duration,
}

/// An open connection.
pub(super) struct EngineClient {
    runtime: Runtime,
    flight: FlightSqlServiceClient<Channel>,
    access: EngineAccess,
    /// When the total time is over.
    end: Instant,
}

impl EngineClient {
    /// Connects.
    ///
    /// # Errors
    ///
    /// Says why there is no connection, also if none is made in time.
    pub fn connect(access: &EngineAccess) -> Result<Self, EngineError> {
        let EngineAccess {
            address,
            token,
            wait,
            total,
        } = access;
        if token.is_some() && !address.is_tls && !address.is_here {
            return Err(EngineError::new(format!(
                "the token is not sent to {address}: the connection would not be encrypted"
            ))
            .with_hint("use grpc+tls://"));
        }
        let no_connection = |why: &dyn std::fmt::Display| {
            EngineError::new(format!(
                "no connection to {address}: {}",
                shorten_message(&why.to_string())
            ))
        };
        let mut endpoint = Endpoint::from_shared(address.uri())
            .and_then(|endpoint| {
                endpoint.user_agent(concat!("evalreport/", env!("CARGO_PKG_VERSION")))
            })
            .map_err(|error| no_connection(&error))?
            .connect_timeout(MAX_CONNECT.min(*wait))
            .tcp_nodelay(true);
        if address.is_tls {
            let tls = ClientTlsConfig::new().with_native_roots();
            endpoint = endpoint
                .tls_config(tls)
                .map_err(|error| no_connection(&error))?;
        }
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| no_connection(&error))?;
        let connected = runtime.block_on(async {
            tokio::time::timeout(MAX_CONNECT.min(*wait), endpoint.connect()).await
        });
        let channel = match connected {
            Ok(Ok(channel)) => channel,
            Ok(Err(error)) => {
                return Err(no_connection(&join_causes(&error))
                    .with_hint("is the engine running, and is the address right?"));
            }
            Err(_) => {
                return Err(no_connection(&format!(
                    "none within {} s",
                    MAX_CONNECT.min(*wait).as_secs_f64()
                )));
            }
        };
        let inner = FlightServiceClient::new(channel).max_decoding_message_size(MAX_MESSAGE_BYTES);
        let mut flight = FlightSqlServiceClient::new_from_inner(inner);
        if let Some(token) = token {
            flight.set_token(token.clone());
        }
        Ok(Self {
            runtime,
            flight,
            access: access.clone(),
            end: Instant::now() + *total,
        })
    }

    /// Asks one query and hands each batch of its answer on. `sql` is its text for some runs.
    ///
    /// # Errors
    ///
    /// Names the query and says why the answer is not whole, or too large.
    pub fn run_query(
        &mut self,
        query: EngineQuery,
        sql: String,
        each: &mut dyn FnMut(&RecordBatch) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let Self {
            runtime,
            flight,
            access,
            end,
        } = self;
        let times = AnswerDeadline {
            access,
            name: query.name,
            end: *end,
        };
        let asking =
            AssertUnwindSafe(|| runtime.block_on(receive_answer(flight, &times, query, sql, each)));
        IS_DECODING.set(true);
        let answered = catch_unwind(asking);
        IS_DECODING.set(false);
        // Decoders of columns panic if parts of a message contradict each other.
        answered.unwrap_or_else(|_| {
            Err(EngineError::new(format!(
                "{}: the answer of {} is damaged",
                query.name, access.address
            )))
        })
    }
}

thread_local! {
    static IS_DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread decodes an engine's answer. A panic there is reported as a problem of the answer.
pub fn is_decoding() -> bool {
    IS_DECODING.get()
}

async fn receive_answer(
    flight: &mut FlightSqlServiceClient<Channel>,
    times: &AnswerDeadline<'_>,
    query: EngineQuery,
    sql: String,
    each: &mut dyn FnMut(&RecordBatch) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let EngineAccess { address, token, .. } = times.access;
    let name = query.name;
    let failed = |error: FlightError| explain_failure(address, name, &error);
    let information = times
        .wait_for(flight.execute(sql, None), times.next_deadline())
        .await?
        .map_err(failed)?;
    let taken = Arc::new(Mutex::new((AnswerMeter::new(query), None)));
    lock_meter(&taken)
        .0
        .check_endpoints(information.endpoint.len())?;
    // An answer in many empty parts is no answer: only rows begin the wait anew.
    let mut until = times.next_deadline();
    for endpoint in information.endpoint {
        check_location(address, name, &endpoint)?;
        let Some(ticket) = endpoint.ticket else {
            return Err(EngineError::new(format!(
                "{name}: {address} promised an answer without a ticket"
            )));
        };
        let mut request = ticket.into_request();
        if let Some(token) = token {
            let unusable = |_| {
                EngineError::new("the engine's token has a character that a header cannot have")
            };
            request.metadata_mut().insert(
                "authorization",
                format!("Bearer {token}").parse().map_err(unusable)?,
            );
        }
        let response = times
            .wait_for(flight.inner_mut().do_get(request), until)
            .await?;
        let messages = response
            .map_err(|status| failed(status.into()))?
            .into_inner();
        let measure = Arc::clone(&taken);
        // Measured before the decoder sees it, because the decoder believes every length.
        let measured = messages.map_err(FlightError::from).and_then(move |data| {
            let mut taken = lock_meter(&measure);
            let is_taken = taken.0.measure_message(&data).map_err(|error| {
                let message = error.message.clone();
                taken.1.get_or_insert(error);
                FlightError::DecodeError(message)
            });
            std::future::ready(is_taken.map(|()| data))
        });
        let mut batches = FlightRecordBatchStream::new_from_flight_data(measured);
        while let Some(batch) = times.wait_for(batches.next(), until).await? {
            let batch = batch
                .map_err(|error| lock_meter(&taken).1.take().unwrap_or_else(|| failed(error)))?;
            if batch.num_rows() > 0 {
                each(&batch)?;
                until = times.next_deadline();
            }
        }
    }
    Ok(())
}

/// What came of an answer, and why no more of it is taken.
type MeterState = (AnswerMeter, Option<EngineError>);

fn lock_meter(measure: &Mutex<MeterState>) -> MutexGuard<'_, MeterState> {
    measure.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long an answer may take.
struct AnswerDeadline<'a> {
    access: &'a EngineAccess,
    /// The query in messages.
    name: &'static str,
    end: Instant,
}

impl AnswerDeadline<'_> {
    /// Returns until when the next rows must come.
    fn next_deadline(&self) -> Instant {
        Instant::now() + self.access.wait
    }

    /// Waits for one message until then, and not beyond the total time.
    async fn wait_for<T>(
        &self,
        message: impl Future<Output = T>,
        until: Instant,
    ) -> Result<T, EngineError> {
        let Self {
            access:
                EngineAccess {
                    address,
                    wait,
                    total,
                    ..
                },
            name,
            end,
        } = self;
        tokio::time::timeout_at(until.min(*end), message)
            .await
            .map_err(|_| {
                if *end <= until {
                    let total = total.as_secs_f64();
                    return EngineError::new(format!(
                        "{name}: the answers of {address} took longer than {total} s"
                    ))
                    .with_hint("--engine-time-limit SECONDS allows more");
                }
                EngineError::new(format!(
                    "{name}: {address} sent nothing for {} s",
                    wait.as_secs_f64()
                ))
                .with_hint("--engine-timeout SECONDS waits longer")
            })
    }
}

/// Refuses answers that are to be fetched elsewhere: only the engine that the user named is asked, and gets the token.
fn check_location(
    address: &EngineAddress,
    name: &str,
    endpoint: &FlightEndpoint,
) -> Result<(), EngineError> {
    match endpoint
        .location
        .iter()
        .find(|location| !location.uri.is_empty() && !location.uri.starts_with(SAME_CONNECTION))
    {
        Some(elsewhere)
            if endpoint
                .location
                .iter()
                .all(|location| location.uri != address.to_string()) =>
        {
            Err(EngineError::new(format!(
                "{name}: {address} keeps its answer at `{}`, which is not asked",
                shorten_message(&elsewhere.uri)
            ))
            .with_hint("let the engine hand out answers itself, or name that address"))
        }
        _ => Ok(()),
    }
}

fn explain_failure(address: &EngineAddress, name: &str, error: &FlightError) -> EngineError {
    let FlightError::Tonic(status) = error else {
        return EngineError::new(format!(
            "{name}: the answer of {address} cannot be read: {}",
            shorten_message(&error.to_string())
        ));
    };
    let said = shorten_message(status.message());
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
        _ => EngineError::new(format!("{name}: {address} answers with an error: {said}")).with_hint(
            "the engine needs two tables or views, `runs` and `outcomes`, of a lake of version 2: see `evalreport help engines`",
        ),
    }
}

/// Returns an error with its causes, because the outermost says only "transport error".
fn join_causes(error: &dyn std::error::Error) -> String {
    let mut said: Vec<String> = Vec::new();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if said.last().is_none_or(|last| !last.contains(&text)) {
            said.push(text);
        }
        cause = error.source();
    }
    if said.is_empty() {
        error.to_string()
    } else {
        said.join(": ")
    }
}
