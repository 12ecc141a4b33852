//! The classes of requests: what a request does to the objects of an open file, and which requests are safe to send.

use super::Argument;

/// What a request does to the objects of the open file.
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

/// An [`Argument`] without addresses that the kernel follows.
///
/// # Safety
///
/// No field of the type is an address that the kernel dereferences, for its own request or for any request that carries the type.
#[expect(unsafe_code, reason = "a promise about the fields of a structure")]
pub unsafe trait Plain: Argument {}

/// A [`Plain`] argument whose request is a query or a wait. It neither creates, destroys, shares nor binds an object, so safe code may
/// send it to a kernel whose objects belong to others ([`send`](crate::send)).
///
/// The trait is sealed. The table that gives a structure its request number also gives it its [`Effect`], and this trait is derived
/// from that: no structure is an [`Argument`] without an effect.
///
/// ```
/// use amdgpu_uapi::{GetCap, GemWaitIdle, Harmless, WaitCs};
///
/// fn is_harmless<A: Harmless>() {}
/// is_harmless::<GetCap>();
/// is_harmless::<GemWaitIdle>();
/// is_harmless::<WaitCs>();
/// ```
///
/// Requests that create:
///
/// ```compile_fail,E0277
/// fn is_harmless<A: amdgpu_uapi::Harmless>() {}
/// is_harmless::<amdgpu_uapi::GemCreate>();
/// ```
///
/// ```compile_fail,E0277
/// fn is_harmless<A: amdgpu_uapi::Harmless>() {}
/// is_harmless::<amdgpu_uapi::Ctx>();
/// ```
///
/// that destroy:
///
/// ```compile_fail,E0277
/// fn is_harmless<A: amdgpu_uapi::Harmless>() {}
/// is_harmless::<amdgpu_uapi::GemClose>();
/// ```
///
/// ```compile_fail,E0277
/// fn is_harmless<A: amdgpu_uapi::Harmless>() {}
/// is_harmless::<amdgpu_uapi::SyncobjDestroy>();
/// ```
///
/// that share:
///
/// ```compile_fail,E0277
/// fn is_harmless<A: amdgpu_uapi::Harmless>() {}
/// is_harmless::<amdgpu_uapi::PrimeHandle>();
/// ```
///
/// ```compile_fail,E0277
/// fn is_harmless<A: amdgpu_uapi::Harmless>() {}
/// is_harmless::<amdgpu_uapi::GemFlink>();
/// ```
///
/// that bind:
///
/// ```compile_fail,E0277
/// fn is_harmless<A: amdgpu_uapi::Harmless>() {}
/// is_harmless::<amdgpu_uapi::GemVa>();
/// ```
///
/// ```compile_fail,E0277
/// fn is_harmless<A: amdgpu_uapi::Harmless>() {}
/// is_harmless::<amdgpu_uapi::GemMmap>();
/// ```
///
/// that submit:
///
/// ```compile_fail,E0277
/// fn is_harmless<A: amdgpu_uapi::Harmless>() {}
/// is_harmless::<amdgpu_uapi::Cs>();
/// ```
///
/// that change state:
///
/// ```compile_fail,E0277
/// fn is_harmless<A: amdgpu_uapi::Harmless>() {}
/// is_harmless::<amdgpu_uapi::GemMetadata>();
/// ```
///
/// and queries and waits that hold addresses, which [`send_raw`](crate::send_raw) sends:
///
/// ```compile_fail,E0277
/// fn is_harmless<A: amdgpu_uapi::Harmless>() {}
/// is_harmless::<amdgpu_uapi::Info>();
/// ```
///
/// ```compile_fail,E0277
/// fn is_harmless<A: amdgpu_uapi::Harmless>() {}
/// is_harmless::<amdgpu_uapi::WaitFences>();
/// ```
///
/// Other crates cannot implement it:
///
/// ```compile_fail,E0277
/// impl amdgpu_uapi::Harmless for amdgpu_uapi::GemClose {}
/// ```
pub trait Harmless: Plain + sealed::Classed {}

pub(super) mod sealed {
    /// Marks structures that the tables of requests class as queries or waits.
    pub trait Classed {}
}
