//! The results of checks, and what was expected of them.

pub(crate) mod bandwidth;
pub(crate) mod baseline;
pub(crate) mod cells;
pub(crate) mod check_result;
pub(crate) mod conclusion;
pub(crate) mod evidence;
pub(crate) mod exit;
pub(crate) mod expectations;
pub(crate) mod hint;
pub(crate) mod hints;
pub(crate) mod outcome;
pub(crate) mod peers;
pub(crate) mod report;
pub(crate) mod resumed;
pub(crate) mod soak;
pub(crate) mod status;
pub(crate) mod tested;
