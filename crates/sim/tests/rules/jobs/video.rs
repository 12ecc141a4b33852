//! R97, R142 and R143: video engines, which execute IBs of NOPs.

use amdgpu_sim::{Profile, SimDevice, SimOptions, profile};
use amdgpu_winsys::{
    uapi::{Errno, InfoHwIp, query},
    winsys::Ip,
};

use crate::support::{Chunk, HANG, IBS, Job, PAGE, Rig, hanging_for, open};

const VIDEO: [Ip; 6] = [Ip::Uvd, Ip::Vce, Ip::UvdEnc, Ip::VcnDec, Ip::VcnEnc, Ip::VcnJpeg];
/// Version of the driver's block, rings, discovery version, instances.
type Block = (Ip, [u32; 2], u32, u32, u32);
/// NOPs of UVD before SOC15 chips, of later decoders, and of JPEG.
const UVD_NOP: [u32; 2] = [0x3bff, 0];
const DEC_NOP: [u32; 2] = [0x81ff, 0];
const JPEG_NOP: [u32; 2] = [0x6000_0000, 0];

fn with_video(name: &str) -> SimDevice {
    let options = SimOptions { strict: false, video: true, ..hanging_for(HANG) };
    SimDevice::new(profile(name).unwrap(), options)
}

fn ip_info(device: &SimDevice, ip: Ip) -> InfoHwIp {
    open(device).info(query::HW_IP_INFO, [ip as u32, 0, 0, 0]).unwrap()
}

/// Sixteen dwords of the NOP of a block of this version.
fn nops(ip: Ip, block: &InfoHwIp) -> Vec<u32> {
    match ip {
        Ip::Uvd if block.hw_ip_version_major < 7 => UVD_NOP.repeat(8),
        Ip::Uvd | Ip::VcnDec => DEC_NOP.repeat(8),
        Ip::VcnJpeg => JPEG_NOP.repeat(8),
        _ => vec![0; 16],
    }
}

// Checks R142.
#[test]
fn video_engines_follow_from_the_chip_where_asked_for() {
    let expected: [(&str, &[Block]); 7] = [
        ("pitcairn", &[(Ip::Uvd, [3, 1], 1, 0, 1), (Ip::UvdEnc, [3, 1], 0, 0, 1)]),
        ("stoney", &[(Ip::Uvd, [6, 2], 1, 0, 1), (Ip::UvdEnc, [6, 2], 0, 0, 1), (Ip::Vce, [3, 4], 1, 0, 1)]),
        ("polaris10", &[(Ip::Uvd, [6, 3], 1, 0, 1), (Ip::UvdEnc, [6, 3], 1, 0, 1), (Ip::Vce, [3, 4], 1, 0, 1)]),
        (
            "vega10",
            &[
                (Ip::Uvd, [7, 0], 1, 0x7_0000, 1),
                (Ip::UvdEnc, [7, 0], 1, 0x7_0000, 1),
                (Ip::Vce, [4, 0], 1, 0x4_0000, 1),
            ],
        ),
        (
            "renoir",
            &[
                (Ip::VcnDec, [2, 0], 1, 0x2_0200, 1),
                (Ip::VcnEnc, [2, 0], 1, 0x2_0200, 1),
                (Ip::VcnJpeg, [2, 0], 1, 0x2_0200, 1),
            ],
        ),
        (
            "navi21",
            &[
                (Ip::VcnDec, [3, 0], 1, 0x3_0000, 2),
                (Ip::VcnEnc, [3, 0], 1, 0x3_0000, 2),
                (Ip::VcnJpeg, [3, 0], 1, 0x3_0000, 2),
            ],
        ),
        (
            "navi31",
            &[
                (Ip::VcnDec, [4, 0], 0, 0x4_0000, 2),
                (Ip::VcnEnc, [4, 0], 1, 0x4_0000, 2),
                (Ip::VcnJpeg, [4, 0], 1, 0x4_0000, 2),
            ],
        ),
    ];
    for (name, blocks) in expected {
        let device = with_video(name);
        for ip in VIDEO {
            let info = ip_info(&device, ip);
            let count = open(&device).info::<u32>(query::HW_IP_COUNT, [ip as u32, 0, 0, 0]);
            let Some(&(_, version, rings, discovery, instances)) = blocks.iter().find(|block| block.0 == ip) else {
                assert_eq!((info, count), (InfoHwIp::ZEROED, Err(Errno::EINVAL)), "{name} {ip}");
                continue;
            };
            assert_eq!([info.hw_ip_version_major, info.hw_ip_version_minor], version, "{name} {ip}");
            assert_eq!((info.available_rings, info.ip_discovery_version), (rings, discovery), "{name} {ip}");
            assert_eq!((info.ib_start_alignment, count), (256, Ok(instances)), "{name} {ip}");
        }
    }
}

// Checks R142.
#[test]
fn captured_video_engines_are_taken_as_they_are_and_none_by_default() {
    let chip = profile("navi21").unwrap();
    let bare = SimDevice::new(chip, hanging_for(HANG));
    assert!(VIDEO.iter().all(|&ip| ip_info(&bare, ip) == InfoHwIp::ZEROED));
    let mut capture: serde_json::Value = serde_json::from_str(&chip.to_capture()).unwrap();
    capture["hw_ip"]["vcn_jpeg"] =
        serde_json::json!({ "hw_ip_version_major": 3, "available_rings": 1, "ib_start_alignment": 256 });
    capture["hw_ip_count"]["vcn_jpeg"] = 5.into();
    let captured = Profile::from_capture(capture.to_string()).unwrap();
    assert_eq!(Profile::from_capture(captured.to_capture()).unwrap(), captured);
    for video in [false, true] {
        let device = SimDevice::new(&captured, SimOptions { video, ..hanging_for(HANG) });
        assert_eq!(ip_info(&device, Ip::VcnJpeg), captured.video[0].block);
        assert_eq!(ip_info(&device, Ip::VcnDec), InfoHwIp::ZEROED);
        assert_eq!(open(&device).info::<u32>(query::HW_IP_COUNT, [Ip::VcnJpeg as u32, 0, 0, 0]), Ok(5));
    }
    capture["hw_ip_count"]["vcn_jpeg"] = 17.into();
    assert!(Profile::from_capture(capture.to_string()).unwrap_err().to_string().contains("hw_ip_count.vcn_jpeg"));
}

// Checks R143.
#[test]
fn ibs_of_nops_run_on_every_video_ring() {
    let mut ran = 0;
    for name in ["pitcairn", "stoney", "polaris10", "vega10", "raven", "renoir", "navi10", "navi21", "navi31"] {
        let device = with_video(name);
        let rig = Rig::new(&device);
        for ip in VIDEO {
            let info = ip_info(&device, ip);
            // UVD without address spaces needs a message, VCE a session.
            if info.available_rings == 0 || ip == Ip::Vce || (ip == Ip::Uvd && matches!(name, "pitcairn" | "stoney")) {
                continue;
            }
            for expected in 1..=2 {
                let seq = rig.run(ip, 0, &nops(ip, &info)).unwrap();
                assert_eq!((seq, rig.finish(ip, 0, seq)), (expected, Ok(())), "{name} {ip}");
            }
            ran += 1;
        }
        assert_eq!(device.complaints(), [""; 0], "{name}");
    }
    assert_eq!(ran, 18);
}

// Checks R143.
#[test]
fn anything_else_hangs_in_words() {
    let cases = [
        ("polaris10", Ip::Uvd, vec![0x8000_0000, 0x3bc3, 0], "dword 1 "),
        ("polaris10", Ip::Uvd, DEC_NOP.to_vec(), "a write to a register that is not UVD_NO_OP (0x81ff)"),
        ("polaris10", Ip::Vce, vec![12, 1, 7], "VCE 3.4: a command"),
        ("vega10", Ip::UvdEnc, vec![0, 24], "a command (0x18)"),
        ("raven", Ip::VcnDec, vec![0xc000_1000, 0], "a packet of neither type 0 nor 2"),
        ("navi21", Ip::VcnDec, vec![0x53f, 0, 0x53f], "a packet that is cut off"),
        ("navi31", Ip::VcnEnc, vec![u32::MAX], "video engines execute NOPs alone"),
        ("navi21", Ip::VcnJpeg, vec![0x4000, 5], "a packet (0x4000)"),
    ];
    for (name, ip, dwords, words) in cases {
        let device = with_video(name);
        let rig = Rig::new(&device);
        let seq = rig.run(ip, 0, &dwords).unwrap();
        assert_eq!(rig.finish(ip, 0, seq), Err(Errno::ECANCELED), "{name} {ip}");
        let complaints = device.complaints().concat();
        assert!(complaints.contains(words), "{name} {ip}: {complaints}");
        assert_eq!(rig.run(ip, 0, &[]), Err(Errno::ECANCELED), "the context is guilty");
    }
    let device = with_video("navi21");
    let rig = Rig::new(&device);
    let job = Job::new(rig.context).with(Chunk::ib(Ip::VcnDec, 0, (0x7000_0000, 64)));
    let seq = job.send(&rig.file).unwrap();
    assert_eq!(rig.finish(Ip::VcnDec, 0, seq), Err(Errno::ECANCELED));
    assert!(device.complaints().concat().contains("fetching commands failed"));
}

// Checks R143.
#[test]
fn the_kernel_looks_at_ibs_of_vce_jpeg_and_old_uvd() {
    let cases = [
        ("stoney", Ip::Uvd, UVD_NOP.repeat(8), "needs a message command"),
        ("pitcairn", Ip::Uvd, UVD_NOP.to_vec(), "a multiple of 16 dwords"),
        ("polaris10", Ip::Vce, vec![0; 4], "length is no multiple of 4 from 8 on"),
        ("vega10", Ip::Vce, vec![8, 0], "no session command"),
        ("navi10", Ip::VcnJpeg, vec![0x8000, 0], "a packet that IBs for JPEG may not have"),
        ("raven", Ip::VcnJpeg, vec![0x4000, 0], "a packet that IBs for JPEG may not have"),
    ];
    for (name, ip, dwords, words) in cases {
        let device = with_video(name);
        let rig = Rig::new(&device);
        assert_eq!(rig.run(ip, 0, &dwords), Err(Errno::EINVAL), "{name} {ip}");
        let complaints = device.complaints().concat();
        assert!(complaints.contains(words), "{name} {ip}: {complaints}");
        assert_eq!(rig.run(Ip::Gfx, 0, &[]), Ok(1), "nothing happened");
    }
    let device = with_video("navi21");
    let rig = Rig::new(&device);
    let ib = rig.ib(&JPEG_NOP.repeat(4));
    let job = |ib| Job::new(rig.context).with(Chunk::ib(Ip::VcnJpeg, 0, ib));
    assert_eq!(job(ib).send(&rig.file), Err(Errno::EINVAL), "its BO is not listed");
    let listed = |ib| job(ib).with(Chunk::bos(&[rig.ibs])).send(&rig.file);
    for beyond in [(IBS - 4, 32), (0, 32), (IBS, u32::MAX / 64), (u64::MAX - 3, 64)] {
        assert_eq!(listed(beyond), Err(Errno::EINVAL), "{beyond:x?}");
    }
    assert_eq!(listed(ib), Ok(1));
    rig.finish(Ip::VcnJpeg, 0, 1).unwrap();
}

// Checks R97.
#[test]
fn a_user_fence_on_a_video_ring_is_einval() {
    for (name, ip) in [
        ("polaris10", Ip::Uvd),
        ("polaris10", Ip::UvdEnc),
        ("polaris10", Ip::Vce),
        ("navi21", Ip::VcnDec),
        ("navi21", Ip::VcnEnc),
        ("navi21", Ip::VcnJpeg),
    ] {
        let rig = Rig::new(&with_video(name));
        let page = rig.file.create(PAGE);
        let with_fence = rig.job(ip, 0, &[]).with(Chunk::user_fence(page, 0)).send(&rig.file);
        assert_eq!((with_fence, rig.run(ip, 0, &[])), (Err(Errno::EINVAL), Ok(1)), "{name} {ip}");
    }
}
