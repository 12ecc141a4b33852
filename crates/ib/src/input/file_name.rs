//! The names of files in messages.

use std::path::Path;

/// Returns the name of a file for messages.
pub(crate) fn name(path: &Path) -> String {
    if path == Path::new("-") {
        return "standard input".to_owned();
    }
    // The end of a line in a name would look like the end of the message.
    amdgpu_output::name(&path.display().to_string()).into_owned()
}
