//! The classes of arguments whose requests are safe to send.

use super::Argument;

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
/// The trait is sealed. The table that gives a structure its request number also gives it its [`Effect`](super::Effect), and this
/// trait is derived from that: no structure is an [`Argument`] without an effect.
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
