//! Streams behind streams.

use std::ptr::null_mut;

use amdgpu_winsys_c::{border::AGW_SUCCESS, objects::*, recording::*};

use super::{kernel, ok};

/// PRE_ENA of the last dword of a jump.
const PRE_ENA: u32 = 1 << 21;

fn closed(device: *mut agw_device, ip: u32, flags: u32) -> *mut agw_stream {
    let mut stream = null_mut();
    ok!(agw_stream_create(device, ip, flags, 64, &raw mut stream));
    ok!(agw_stream_finalize(stream));
    stream
}

/// The last dword of a stream of one IB.
fn last_dword(stream: *mut agw_stream) -> u32 {
    let (mut ib, mut count) = (agw_ib { va: 0, dwords: 0, pad: 0 }, 1);
    ok!(agw_stream_ibs(stream, &raw mut ib, &raw mut count));
    let mut dwords = vec![0; usize::try_from(ib.dwords).unwrap()];
    ok!(agw_stream_read(stream, 0, dwords.as_mut_ptr(), ib.dwords));
    *dwords.last().unwrap()
}

#[test]
fn a_chain_is_replayed_after_a_preemption_where_the_ring_can() {
    let device = device_of_kernel(kernel()).unwrap();
    let [first, second, third] = [0; 3].map(|flags| closed(device, AGW_IP_GFX, flags));
    // SAFETY: live streams that the test alone uses.
    unsafe {
        let end = last_dword(first);
        assert!(agw_stream_chain_replayed(first, second));
        assert!(agw_stream_chain(second, third));
        assert_eq!([first, second].map(|stream| last_dword(stream) & PRE_ENA), [PRE_ENA, 0]);
        assert!(!agw_stream_chain_replayed(first, third), "it is chained");
        ok!(agw_stream_unchain(first));
        assert_eq!(last_dword(first), end);
        let alone = closed(device, AGW_IP_GFX, AGW_STREAM_UNCHAINED);
        assert!(!agw_stream_chain_replayed(first, alone) && !agw_stream_chain_replayed(alone, first));
        let compute = [0; 2].map(|flags| closed(device, AGW_IP_COMPUTE, flags));
        assert!(!agw_stream_chain_replayed(compute[0], compute[1]) && agw_stream_chain(compute[0], compute[1]));
        assert!(!agw_stream_chain_replayed(null_mut(), first) && !agw_stream_chain_replayed(first, null_mut()));
        for stream in [first, second, third, alone, compute[0], compute[1]] {
            agw_stream_destroy(stream);
        }
        agw_device_unref(device);
    }
}
