//! `AMDGPU_SIM`, which names the chips of a world.

use amdgpu_fuzz::reach::Reach;
use amdgpu_sim_world::gpus;

static ANY: Reach = Reach::new("environment::any_list_of_chips_is_taken_or_refused_by_name");
static KNOWN: Reach = Reach::new("environment::any_list_of_known_chips_is_as_long_as_it_says_or_too_long");

#[test]
fn any_list_of_chips_is_taken_or_refused_by_name() {
    bolero::check!().with_iterations(20_000).for_each(|input: &[u8]| {
        let list = String::from_utf8_lossy(input);
        // Most bytes are no text; those that are name a chip in their midst.
        let list = if input.len().is_multiple_of(4) { list } else { format!("navi21,{list}").into() };
        let found = gpus(&list);
        ANY.count(!input.len().is_multiple_of(4));
        match found {
            Ok(found) => assert_eq!(found.len(), list.split(',').count()),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
    ANY.report();
}

#[test]
fn any_list_of_known_chips_is_as_long_as_it_says_or_too_long() {
    bolero::check!().with_type::<Vec<u8>>().with_iterations(2_000).for_each(|picks| {
        let profiles = amdgpu_sim::profiles();
        let names: Vec<_> =
            picks.iter().map(|&pick| profiles[usize::from(pick) % profiles.len()].name.as_str()).collect();
        let found = gpus(&names.join(","));
        KNOWN.count(found.is_ok());
        match names.len() {
            0 => assert!(found.is_err(), "no name is no chip"),
            count if count <= amdgpu_sim::sysfs::MOST_DEVICES => {
                assert_eq!(found.map(|found| found.len()).ok(), Some(count));
            }
            count => assert!(found.unwrap_err().to_string().contains(&count.to_string())),
        }
    });
    KNOWN.report();
}
