//! stub
use crate::Source;
/// stub
pub fn png(_sources: &[Source<'_>], _channels: &[String]) -> Option<Vec<u8>> {
    None
}
