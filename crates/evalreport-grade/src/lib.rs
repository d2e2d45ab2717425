//! Grades replies to questions with free answers: texts, numbers, patterns, phrases, JSON and options, as models write them.
//!
//! A reply that can be read in several ways is never guessed: see [`ReplyGrade`]. All graders take time in proportion to the reply's length, and text in
//! a reply that speaks to the grader is data like any other.
//!
//! [`read_grader`] finds every fault of a grader's settings before anybody is asked. [`Grader::grade`] grades a reply.

// Layers below, under the names that they have in this house.
use evalreport_model::{document, domain};

mod choice;
mod cleaning;
mod contains;
mod exact;
mod final_answer;
mod graded;
mod grader;
mod json;
mod number;
mod pattern;
mod settings;
mod text_form;
mod visible;

pub use graded::{GradeError, GradedReply, ReplyGrade};
pub use grader::Grader;
pub use settings::read_grader;
