//! The PCI slots of a world, and the devices in them.

use std::collections::HashSet;

use amdgpu_sim::{SimDevice, sysfs::MOST_DEVICES};

/// A device, there or removed.
#[derive(Debug)]
struct Known {
    device: SimDevice,
    /// Number of its printed complaints.
    printed: usize,
    /// `true` if another device was found in its slot since.
    is_replaced: bool,
}

/// The devices of a world. One that was removed stays known until it is found again and its last file is closed.
#[derive(Debug)]
pub(crate) struct Slots(Vec<Known>);

impl Slots {
    pub(crate) fn new(devices: Vec<SimDevice>) -> Self {
        Self(devices.into_iter().map(|device| Known { device, printed: 0, is_replaced: false }).collect())
    }

    /// Returns the devices that are there.
    pub(crate) fn present(&self) -> impl Iterator<Item = &SimDevice> {
        self.0.iter().map(|known| &known.device).filter(|device| !device.is_unplugged())
    }

    /// Returns the device whose node has a minor number.
    pub(crate) fn of_minor(&self, minor: u32) -> Option<&SimDevice> {
        self.present().find(|device| {
            let place = device.place();
            place.primary_minor() == minor || place.render_minor() == minor
        })
    }

    /// Finds the devices again that were removed: each in its slot, with the first nodes that no device has. Those of a removed
    /// device are taken as long as files of it are open.
    pub(crate) fn rescan(&mut self) -> Vec<SimDevice> {
        self.0.retain(|known| !known.is_replaced || known.device.census().files > 0);
        let is_there = |known: &&Known| !known.device.is_unplugged() || known.device.census().files > 0;
        let minor = |known: &Known| known.device.place().primary_minor() as usize;
        let mut taken: HashSet<usize> = self.0.iter().filter(is_there).map(minor).collect();
        let mut found = Vec::new();
        for known in self.0.iter_mut().filter(|known| known.device.is_unplugged() && !known.is_replaced) {
            let free = (0..MOST_DEVICES).find(|number| !taken.contains(number));
            // With no nodes left, the driver does not bind.
            let Some(place) = free.and_then(|number| known.device.place().with_nodes(number)) else { continue };
            taken.extend(free);
            known.is_replaced = true;
            found.push(known.device.found_again(place));
        }
        self.0.extend(found.iter().map(|device| Known { device: device.clone(), printed: 0, is_replaced: false }));
        found
    }

    /// Returns the complaints that were not printed yet, each with its chip.
    pub(crate) fn new_complaints(&mut self) -> Vec<String> {
        let mut new = Vec::new();
        for known in &mut self.0 {
            if known.device.complaint_count() == known.printed {
                continue;
            }
            let complaints = known.device.complaints();
            let name = &known.device.profile().name;
            new.extend(complaints.iter().skip(known.printed).map(|complaint| format!("{name}: {complaint}")));
            known.printed = complaints.len();
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_sim::{SimMachine, SimOptions, profile, sysfs::Place};

    use super::*;

    fn slots(count: usize) -> Slots {
        let machine = SimMachine::new();
        let options = |index| SimOptions { place: Place::new(index).unwrap(), ..SimOptions::default() };
        Slots::new((0..count).map(|index| machine.add(profile("navi21").unwrap(), options(index))).collect())
    }

    fn minors(slots: &Slots) -> Vec<u32> {
        slots.present().map(|device| device.place().primary_minor()).collect()
    }

    #[test]
    fn a_device_comes_back_in_its_slot_with_its_nodes() {
        let mut slots = slots(2);
        assert_eq!(slots.rescan().len(), 0, "nothing was removed");
        slots.of_minor(129).unwrap().unplug();
        assert_eq!((minors(&slots), slots.of_minor(1).is_none()), (vec![0], true));
        let found = slots.rescan();
        assert_eq!(found[0].place(), Place::new(1).unwrap());
        assert_eq!((minors(&slots), slots.rescan().len()), (vec![0, 1], 0));
    }

    #[test]
    fn nodes_of_a_removed_device_are_taken_while_its_files_are_open() {
        let mut slots = slots(1);
        let old = slots.of_minor(0).unwrap().clone();
        let file = old.open();
        old.unplug();
        let again = slots.rescan().remove(0);
        assert_eq!((again.place().primary_minor(), again.place().pci()), (1, old.place().pci()));
        again.unplug();
        drop(file);
        assert_eq!(slots.rescan()[0].place(), Place::new(0).unwrap());
        assert_eq!(slots.0.len(), 2, "the first one is forgotten");
    }
}
