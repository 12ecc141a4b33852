//! Packets in packet buffers and bursts: their dwords are those of the packets, one after the other, and a refused one leaves none.

use crate::support::device;
use amdgpu_winsys::cs::{EncodeError, Packet as _, PacketBuf, RecordError, Stream, pm4};
use proptest::prelude::*;

/// Something to append.
#[derive(Clone, Debug)]
enum Piece {
    /// A NOP over this many dwords; none is no packet.
    Skip(usize),
    /// Two dwords as they are.
    Put(u32),
}

fn piece() -> impl Strategy<Value = Piece> {
    prop_oneof![4 => (0..6_usize).prop_map(Piece::Skip), 2 => any::<u32>().prop_map(Piece::Put)]
}

const TARGET: pm4::Target = pm4::Target::gfx(amdgpu_winsys::winsys::GfxLevel::Gfx10_3);

/// The dwords of a NOP.
fn nop(data: &[u32]) -> Result<Vec<u32>, EncodeError> {
    let mut dwords = vec![0; 16];
    let len = pm4::Nop::Skip(data).encode(TARGET, &mut dwords)?;
    dwords.truncate(len);
    Ok(dwords)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_snippet_is_its_packets_one_after_the_other(lengths in prop::collection::vec(0..6_usize, 0..20)) {
        let (mut packets, mut model) = (PacketBuf::new(TARGET), Vec::new());
        for (value, len) in (1..).zip(lengths) {
            let data = vec![value; len];
            let (pushed, encoded) = (packets.push(&pm4::Nop::Skip(&data)), nop(&data));
            prop_assert_eq!(pushed.is_ok(), len > 0);
            prop_assert_eq!(pushed.err(), encoded.as_ref().err().copied());
            model.extend(encoded.unwrap_or_default());
            prop_assert_eq!(packets.dwords(), &model[..]);
        }
        let device = device("navi21");
        let mut stream = Stream::new(&device, TARGET, 64).unwrap();
        stream.push_packets(&packets).unwrap();
        prop_assert_eq!(stream.len(), model.len());
        prop_assert_eq!(&stream.chunk()[..model.len()], &model[..]);
    }

    #[test]
    fn a_burst_records_what_fits_into_its_room(room in 0..40_usize, pieces in prop::collection::vec(piece(), 0..20)) {
        let device = device("navi21");
        let mut stream = Stream::new(&device, TARGET, 64).unwrap();
        *stream.room() = [0xc000_1000, 0];
        let mut model = vec![0xc000_1000, 0];
        {
            let mut writer = stream.packet_writer(room).unwrap();
            let mut left = room;
            prop_assert_eq!(writer.left(), left);
            for (value, piece) in (1..).zip(pieces) {
                let (outcome, dwords) = match piece {
                    Piece::Put(dword) => (writer.put([dword, value]), Ok(vec![dword, value])),
                    Piece::Skip(len) => {
                        let data = vec![value; len];
                        (writer.push(&pm4::Nop::Skip(&data)), nop(&data))
                    }
                };
                let expected = match dwords {
                    Err(error) => Err(RecordError::Encode(error)),
                    Ok(dwords) if dwords.len() > left => Err(RecordError::TooLong { needed: dwords.len(), most: left }),
                    Ok(dwords) => {
                        left -= dwords.len();
                        model.extend(dwords);
                        Ok(())
                    }
                };
                prop_assert_eq!(outcome, expected);
                prop_assert_eq!(writer.left(), left);
            }
        }
        prop_assert_eq!(stream.len(), model.len());
        prop_assert_eq!(&stream.chunk()[..model.len()], &model[..]);
        // What is recorded next comes behind it.
        stream.push(&pm4::Nop::Skip(&[9; 3])).unwrap();
        model.extend(nop(&[9; 3]).unwrap());
        prop_assert_eq!(&stream.chunk()[..model.len()], &model[..]);
    }
}

#[test]
fn a_snippet_of_another_ring_is_refused() {
    let device = device("navi21");
    let compute = pm4::Target::compute(TARGET.level);
    let mut stream = Stream::new(&device, TARGET, 64).unwrap();
    let error = stream.push_packets(&PacketBuf::new(compute)).unwrap_err();
    assert_eq!(error, RecordError::WrongStream { recorded: compute.into(), stream: TARGET.into() });
    assert_eq!(PacketBuf::new(compute).language(), compute);
    assert!(stream.is_empty());
}
