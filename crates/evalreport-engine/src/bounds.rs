//! How much of an answer is taken: each message is measured before anything of it is unpacked.

use arrow_flight::FlightData;
use arrow_ipc::{CompressionType, RecordBatch, root_as_message};

use super::engine_error::EngineError;
use super::queries::EngineQuery;

/// Largest message, as it comes and unpacked. Engines send batches of a few megabytes; a text as long as a run's record may be in one.
pub(super) const MAX_MESSAGE_BYTES: usize = 256 << 20;
/// Parts of one answer.
const MAX_ENDPOINTS: usize = 1_000;
/// Messages without a row.
const MAX_EMPTY: u64 = 10_000;

/// What came of one answer so far.
pub(super) struct AnswerMeter {
    query: EngineQuery,
    rows: u64,
    bytes: u64,
    empty: u64,
}

impl AnswerMeter {
    pub fn new(query: EngineQuery) -> Self {
        Self {
            query,
            rows: 0,
            bytes: 0,
            empty: 0,
        }
    }

    pub fn check_endpoints(&self, endpoints: usize) -> Result<(), EngineError> {
        let name = self.query.name;
        if endpoints <= MAX_ENDPOINTS {
            return Ok(());
        }
        Err(EngineError::new(format!(
            "{name}: the answer is in {endpoints} parts, and at most {MAX_ENDPOINTS} are read"
        )))
    }

    /// Measures the next message. Fails if it is too large, or the whole answer would be.
    pub fn measure_message(&mut self, data: &FlightData) -> Result<(), EngineError> {
        let EngineQuery {
            name,
            most_rows,
            most_bytes,
            ..
        } = self.query;
        let (rows, bytes) = measure_data(data).ok_or_else(|| {
            EngineError::new(format!("{name}: a message of the answer is damaged"))
        })?;
        if bytes > MAX_MESSAGE_BYTES as u64 {
            let most = MAX_MESSAGE_BYTES >> 20;
            return Err(EngineError::new(format!(
                "{name}: a message would have {} MB unpacked, and at most {most} MB are read",
                bytes >> 20
            )));
        }
        self.rows = self.rows.saturating_add(rows);
        self.bytes = self.bytes.saturating_add(bytes);
        self.empty += u64::from(rows == 0);
        let beyond = |what: String| {
            EngineError::new(format!("{name}: the answer has more than {what}"))
                .with_hint(FEWER_RUNS_HINT)
        };
        if self.rows > most_rows {
            return Err(beyond(format!("{most_rows} rows")));
        }
        if self.bytes > most_bytes {
            return Err(beyond(format!("{} MB", most_bytes >> 20)));
        }
        if self.empty > MAX_EMPTY {
            return Err(beyond(format!("{MAX_EMPTY} messages without a row")));
        }
        Ok(())
    }
}

const FEWER_RUNS_HINT: &str = "name suites, so that the engine is asked about their runs alone";

/// Returns the rows and the unpacked bytes of a message, or `None` if it contradicts itself.
fn measure_data(data: &FlightData) -> Option<(u64, u64)> {
    let body = &data.data_body;
    let plain = Some((0, (data.data_header.len() + body.len()) as u64));
    if data.data_header.is_empty() {
        return plain;
    }
    let message = root_as_message(&data.data_header).ok()?;
    if let Some(batch) = message.header_as_record_batch() {
        return Some((
            u64::try_from(batch.length()).ok()?,
            unpacked_bytes(&batch, body)?,
        ));
    }
    match message.header_as_dictionary_batch() {
        Some(dictionary) => Some((0, unpacked_bytes(&dictionary.data()?, body)?)),
        None => plain,
    }
}

/// Returns the bytes of a batch's buffers after decompression. Each compressed buffer begins with its length, or with -1 if it is stored as
/// it is: see the Arrow columnar format, IPC, buffer compression.
fn unpacked_bytes(batch: &RecordBatch<'_>, body: &[u8]) -> Option<u64> {
    let is_compressed = match batch.compression() {
        Some(compression) => matches!(
            compression.codec(),
            CompressionType::LZ4_FRAME | CompressionType::ZSTD
        )
        .then_some(true)?,
        None => false,
    };
    // Nodes take memory even without buffers.
    let mut bytes = batch.nodes().map_or(0, |nodes| nodes.len() as u64 * 64);
    for buffer in batch.buffers()? {
        let start = usize::try_from(buffer.offset()).ok()?;
        let length = usize::try_from(buffer.length()).ok()?;
        let part = body.get(start..start.checked_add(length)?)?;
        let size = match part.first_chunk::<8>() {
            Some(stated) if is_compressed => match i64::from_le_bytes(*stated) {
                -1 => part.len() as u64 - 8,
                stated => u64::try_from(stated).ok()?,
            },
            _ => part.len() as u64,
        };
        bytes = bytes.checked_add(size)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Int64Array, RecordBatch as Batch};
    use arrow_flight::utils::batches_to_flight_data;

    use super::super::queries::{CELLS, RUNS};
    use super::*;

    fn messages(rows: i64) -> Vec<FlightData> {
        let column: arrow_array::ArrayRef = Arc::new((0..rows).collect::<Int64Array>());
        let batch = Batch::try_from_iter([("n", column)]).expect("one column");
        batches_to_flight_data(&batch.schema(), vec![batch]).expect("encodable")
    }

    #[test]
    fn add_measures_rows_and_bytes_before_anything_is_unpacked() {
        let mut taken = AnswerMeter::new(CELLS);
        for message in messages(1_000) {
            taken.measure_message(&message).expect("small");
        }
        assert_eq!(taken.rows, 1_000);
        assert!((8_000..20_000).contains(&taken.bytes), "{}", taken.bytes);
        // A body that is shorter than its buffers, and a header that is none.
        let whole = messages(1_000).pop().expect("a batch");
        let cut = FlightData {
            data_body: whole.data_body.slice(..100),
            ..whole.clone()
        };
        assert!(
            taken
                .measure_message(&cut)
                .expect_err("cut")
                .message
                .contains("is damaged")
        );
        let broken = FlightData {
            data_header: vec![7; 40].into(),
            ..whole
        };
        assert!(
            taken
                .measure_message(&broken)
                .expect_err("broken")
                .message
                .contains("is damaged")
        );
    }

    #[test]
    fn an_answer_has_an_end_in_rows_messages_and_parts() {
        let mut taken = AnswerMeter::new(RUNS);
        let [schema, batch] = messages(300_000).try_into().expect("two messages");
        for _ in 0..3 {
            taken.measure_message(&batch).expect("fewer than a million");
        }
        assert!(
            taken
                .measure_message(&batch)
                .expect_err("more")
                .message
                .contains("more than 1000000 rows")
        );
        let mut taken = AnswerMeter::new(RUNS);
        let refused = (0..=MAX_EMPTY + 1)
            .find_map(|_| taken.measure_message(&schema).err())
            .expect("too many");
        assert!(refused.message.contains("without a row"));
        assert!(
            taken.check_endpoints(MAX_ENDPOINTS).is_ok()
                && taken.check_endpoints(MAX_ENDPOINTS + 1).is_err()
        );
    }
}
