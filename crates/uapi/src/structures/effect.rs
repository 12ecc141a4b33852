//! Effects of requests on the objects of an open file.

/// Effect of a request on the objects of the open file.
///
/// Some structures carry several requests or operations, such as [`Ctx`](super::Ctx), which creates, frees and queries contexts.
/// The effect of such a structure is that of its most powerful operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Reads state, and changes nothing.
    Query,
    /// Waits for work that was submitted, and changes nothing.
    Wait,
    /// Creates an object, whose handle or id may be one that was used before.
    Create,
    /// Destroys an object or gives up a handle. The number may become that of another object.
    Destroy,
    /// Gives an object, or the right to it, to another handle, file or process.
    Share,
    /// Binds memory of a BO to addresses of the GPU, or permits mapping it into the process.
    Bind,
    /// Submits work, which accesses memory.
    Submit,
    /// Changes the state of an object or of the file.
    Change,
}
