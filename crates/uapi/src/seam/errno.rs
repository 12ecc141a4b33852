//! The kernel's error numbers.

use std::{fmt, io};

use nix::libc;

/// An error number of the Linux kernel.
///
/// The numbers are those of the target's headers, and each has a constant that can be used in patterns. Numbers without a constant
/// are kept, so that errors of newer kernels are not lost.
///
/// ```
/// use amdgpu_uapi::Errno;
///
/// let refused: Result<(), Errno> = Err(Errno::from_raw(22));
/// assert!(matches!(refused, Err(Errno::EINVAL)));
/// assert_eq!(Errno::EINVAL.to_string(), "EINVAL: Invalid argument");
/// assert_eq!(Errno::from_raw(4000).to_string(), "errno 4000");
/// assert_eq!(std::io::Error::from(Errno::ENOENT).kind(), std::io::ErrorKind::NotFound);
/// ```
///
/// Source: Linux 6.12 `include/uapi/asm-generic/errno-base.h` and `errno.h`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Errno(i32);

macro_rules! errnos {
    ($($name:ident $text:literal;)*) => {
        impl Errno {
            $(
                #[doc = concat!($text, ".")]
                pub const $name: Self = Self(libc::$name);
            )*

            /// Returns the name, such as `"EINVAL"`; `None` if the number has no constant.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $(libc::$name => Some(stringify!($name)),)*
                    _ => None,
                }
            }

            /// Returns a short description of the error in English.
            pub const fn desc(self) -> &'static str {
                match self.0 {
                    $(libc::$name => $text,)*
                    _ => "Unknown error",
                }
            }

            /// All numbers that have a constant.
            #[cfg(test)]
            const ALL: &[(Self, &'static str)] = &[$((Self::$name, stringify!($name))),*];
        }
    };
}

errnos! {
    EPERM "Operation not permitted";
    ENOENT "No such file or directory";
    ESRCH "No such process";
    EINTR "Interrupted system call";
    EIO "Input/output error";
    ENXIO "No such device or address";
    E2BIG "Argument list too long";
    ENOEXEC "Exec format error";
    EBADF "Bad file descriptor";
    ECHILD "No child processes";
    EAGAIN "Resource temporarily unavailable";
    ENOMEM "Out of memory";
    EACCES "Permission denied";
    EFAULT "Bad address";
    ENOTBLK "Block device required";
    EBUSY "Device or resource busy";
    EEXIST "File exists";
    EXDEV "Invalid cross-device link";
    ENODEV "No such device";
    ENOTDIR "Not a directory";
    EISDIR "Is a directory";
    EINVAL "Invalid argument";
    ENFILE "Too many open files in system";
    EMFILE "Too many open files";
    ENOTTY "Request not known to the device";
    ETXTBSY "Text file busy";
    EFBIG "File too large";
    ENOSPC "No space left on device";
    ESPIPE "Illegal seek";
    EROFS "Read-only file system";
    EMLINK "Too many links";
    EPIPE "Broken pipe";
    EDOM "Numerical argument out of domain";
    ERANGE "Numerical result out of range";
    EDEADLK "Resource deadlock would occur";
    ENAMETOOLONG "File name too long";
    ENOLCK "No locks available";
    ENOSYS "Function not implemented";
    ENOTEMPTY "Directory not empty";
    ELOOP "Too many levels of symbolic links";
    ENOMSG "No message of desired type";
    EIDRM "Identifier removed";
    ECHRNG "Channel number out of range";
    EL2NSYNC "Level 2 not synchronized";
    EL3HLT "Level 3 halted";
    EL3RST "Level 3 reset";
    ELNRNG "Link number out of range";
    EUNATCH "Protocol driver not attached";
    ENOCSI "No CSI structure available";
    EL2HLT "Level 2 halted";
    EBADE "Invalid exchange";
    EBADR "Invalid request descriptor";
    EXFULL "Exchange full";
    ENOANO "No anode";
    EBADRQC "Invalid request code";
    EBADSLT "Invalid slot";
    EBFONT "Bad font file format";
    ENOSTR "Device not a stream";
    ENODATA "No data available";
    ETIME "Timer expired";
    ENOSR "Out of streams resources";
    ENONET "Machine is not on the network";
    ENOPKG "Package not installed";
    EREMOTE "Object is remote";
    ENOLINK "Link has been severed";
    EADV "Advertise error";
    ESRMNT "Srmount error";
    ECOMM "Communication error on send";
    EPROTO "Protocol error";
    EMULTIHOP "Multihop attempted";
    EDOTDOT "RFS specific error";
    EBADMSG "Bad message";
    EOVERFLOW "Value too large for defined data type";
    ENOTUNIQ "Name not unique on network";
    EBADFD "File descriptor in bad state";
    EREMCHG "Remote address changed";
    ELIBACC "Can not access a needed shared library";
    ELIBBAD "Accessing a corrupted shared library";
    ELIBSCN ".lib section in a.out corrupted";
    ELIBMAX "Attempting to link in too many shared libraries";
    ELIBEXEC "Cannot exec a shared library directly";
    EILSEQ "Invalid or incomplete multibyte or wide character";
    ERESTART "Interrupted system call should be restarted";
    ESTRPIPE "Streams pipe error";
    EUSERS "Too many users";
    ENOTSOCK "Socket operation on non-socket";
    EDESTADDRREQ "Destination address required";
    EMSGSIZE "Message too long";
    EPROTOTYPE "Protocol wrong type for socket";
    ENOPROTOOPT "Protocol not available";
    EPROTONOSUPPORT "Protocol not supported";
    ESOCKTNOSUPPORT "Socket type not supported";
    EOPNOTSUPP "Operation not supported";
    EPFNOSUPPORT "Protocol family not supported";
    EAFNOSUPPORT "Address family not supported by protocol";
    EADDRINUSE "Address already in use";
    EADDRNOTAVAIL "Cannot assign requested address";
    ENETDOWN "Network is down";
    ENETUNREACH "Network is unreachable";
    ENETRESET "Network dropped connection on reset";
    ECONNABORTED "Software caused connection abort";
    ECONNRESET "Connection reset by peer";
    ENOBUFS "No buffer space available";
    EISCONN "Transport endpoint is already connected";
    ENOTCONN "Transport endpoint is not connected";
    ESHUTDOWN "Cannot send after transport endpoint shutdown";
    ETOOMANYREFS "Too many references: cannot splice";
    ETIMEDOUT "Connection timed out";
    ECONNREFUSED "Connection refused";
    EHOSTDOWN "Host is down";
    EHOSTUNREACH "No route to host";
    EALREADY "Operation already in progress";
    EINPROGRESS "Operation now in progress";
    ESTALE "Stale file handle";
    EUCLEAN "Structure needs cleaning";
    ENOTNAM "Not a XENIX named type file";
    ENAVAIL "No XENIX semaphores available";
    EISNAM "Is a named type file";
    EREMOTEIO "Remote I/O error";
    EDQUOT "Disk quota exceeded";
    ENOMEDIUM "No medium found";
    EMEDIUMTYPE "Wrong medium type";
    ECANCELED "Operation canceled";
    ENOKEY "Required key not available";
    EKEYEXPIRED "Key has expired";
    EKEYREVOKED "Key has been revoked";
    EKEYREJECTED "Key was rejected by service";
    EOWNERDEAD "Owner died";
    ENOTRECOVERABLE "State not recoverable";
    ERFKILL "Operation not possible due to RF-kill";
    EHWPOISON "Memory page has a hardware error";
}

impl Errno {
    /// An alias of [`Errno::EAGAIN`].
    pub const EWOULDBLOCK: Self = Self::EAGAIN;
    /// An alias of [`Errno::EOPNOTSUPP`].
    pub const ENOTSUP: Self = Self::EOPNOTSUPP;
    /// An alias of [`Errno::EDEADLK`].
    pub const EDEADLOCK: Self = Self::EDEADLK;

    /// Creates an error from its number. The kernel only returns positive numbers.
    #[inline]
    pub const fn from_raw(raw: i32) -> Self {
        Self(raw)
    }

    /// Returns the error number, which is positive.
    #[inline]
    pub const fn raw(self) -> i32 {
        self.0
    }

    /// Returns the error of the calling thread's last failed system call.
    pub fn last() -> Self {
        Self(io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }

    /// Converts the return value of a C function to a result: -1 means an error.
    ///
    /// # Errors
    ///
    /// [`Errno::last`] if `returned` is -1.
    #[inline]
    pub fn result<T: PartialEq + From<i8>>(returned: T) -> Result<T, Self> {
        if returned == T::from(-1) { Err(Self::last()) } else { Ok(returned) }
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "Errno({})", self.0),
        }
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name}: {}", self.desc()),
            None => write!(f, "errno {}", self.0),
        }
    }
}

impl std::error::Error for Errno {}

impl From<Errno> for io::Error {
    fn from(errno: Errno) -> Self {
        Self::from_raw_os_error(errno.0)
    }
}

/// Conversion for crates that make system calls through nix, so that `?` works. It requires the feature `from-nix`, which keeps the
/// version of nix out of this crate's interface.
#[cfg(feature = "from-nix")]
impl From<nix::errno::Errno> for Errno {
    fn from(errno: nix::errno::Errno) -> Self {
        of_nix(errno)
    }
}

/// Conversion for programs of the workspace that implement system calls. Numbers that nix does not know become its `UnknownErrno`.
#[cfg(feature = "from-nix")]
impl From<Errno> for nix::errno::Errno {
    fn from(errno: Errno) -> Self {
        Self::from_raw(errno.0)
    }
}

/// Converts nix's error to [`Errno`].
pub(super) fn of_nix(errno: nix::errno::Errno) -> Errno {
    Errno(errno as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_from_1_to_133_but_two_has_one_name() {
        let mut raw: Vec<_> = Errno::ALL.iter().map(|(errno, _)| errno.raw()).collect();
        raw.sort_unstable();
        // 41 and 58 are unused in the header.
        assert_eq!(raw, (1..=133).filter(|raw| ![41, 58].contains(raw)).collect::<Vec<_>>());
    }

    #[test]
    fn nix_has_the_same_names_and_numbers() {
        for &(errno, name) in Errno::ALL {
            let theirs = nix::errno::Errno::from_raw(errno.raw());
            assert_eq!(format!("{theirs:?}"), name);
            assert_eq!(format!("{errno:?}"), name);
            assert_eq!(of_nix(theirs), errno);
        }
    }

    #[test]
    fn a_number_without_a_name_is_kept() {
        let unknown = Errno::from_raw(4000);
        assert_eq!((unknown.raw(), unknown.name(), unknown.desc()), (4000, None, "Unknown error"));
        assert_eq!((format!("{unknown:?}"), unknown.to_string()), ("Errno(4000)".into(), "errno 4000".into()));
        assert_eq!(io::Error::from(unknown).raw_os_error(), Some(4000));
    }

    #[test]
    fn minus_one_is_an_error_and_nothing_else_is() {
        nix::errno::Errno::EBUSY.set();
        assert_eq!(Errno::result(-1_i32), Err(Errno::EBUSY));
        assert_eq!(Errno::result(-1_i64), Err(Errno::EBUSY));
        assert_eq!((Errno::result(0_i32), Errno::result(-2_isize)), (Ok(0), Ok(-2)));
    }
}
