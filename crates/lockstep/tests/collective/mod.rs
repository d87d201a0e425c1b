//! Collective calls of simulators.

mod pending;

use cuda_std::half::{bf16, f16};
use lockstep::collectives::{Communicator, Element, Operator, group};
use lockstep::{Buffer, Device, Error, Simulator, Stream};

struct Rank {
    rank: Communicator,
    stream: Stream,
    device: Device,
}

fn ranks(n: usize) -> Vec<Rank> {
    let check = Simulator {
        check: true,
        ..Simulator::default()
    };
    let devices = Device::simulators_with(n, check);
    let ranks = Communicator::of_devices(&devices).expect("simulators");
    let of = |(rank, device): (Communicator, &Device)| Rank {
        rank,
        stream: device.stream().expect("there is one"),
        device: device.clone(),
    };
    ranks.into_iter().zip(&devices).map(of).collect()
}

impl Rank {
    fn give<T: Element>(&self, values: &[T]) -> Buffer<T> {
        self.device.upload("given", values).expect("room")
    }

    fn room<T: Element>(&self, n: usize) -> Buffer<T> {
        self.device.alloc("got", n).expect("room")
    }
}

#[test]
fn every_call_does_what_it_says() {
    let all = ranks(3);
    let given: Vec<_> = (0..3)
        .map(|i| all[i].give(&[i as i32, 10, -(i as i32), 5, 6, 7]))
        .collect();
    let got: Vec<_> = all.iter().map(|rank| rank.room::<i32>(6)).collect();
    let parts: Vec<_> = all.iter().map(|rank| rank.room::<i32>(2)).collect();
    let wide: Vec<_> = all.iter().map(|rank| rank.room::<i32>(6)).collect();
    for operator in [
        Operator::Sum,
        Operator::Product,
        Operator::Max,
        Operator::Min,
    ] {
        for (i, Rank { rank, stream, .. }) in all.iter().enumerate() {
            // SAFETY: all buffers live as long as the streams.
            unsafe { rank.all_reduce(stream, &got[i], &given[i], operator) }.expect("fits");
        }
        for (i, Rank { rank, stream, .. }) in all.iter().enumerate() {
            // SAFETY: as above.
            unsafe { rank.reduce_scatter(stream, &parts[i], &given[i], operator) }.expect("fits");
        }
        let expected = match operator {
            Operator::Sum => [3, 30, -3, 15, 18, 21],
            Operator::Product => [0, 1000, 0, 125, 216, 343],
            Operator::Max => [2, 10, 0, 5, 6, 7],
            Operator::Min => [0, 10, -2, 5, 6, 7],
        };
        for (i, Rank { rank, stream, .. }) in all.iter().enumerate() {
            rank.synchronize(stream).expect("it ends");
            assert_eq!(got[i].read().expect("it is there"), expected);
            assert_eq!(
                parts[i].read().expect("it is there"),
                expected[2 * i..2 * i + 2]
            );
        }
    }
    for (i, Rank { rank, stream, .. }) in all.iter().enumerate() {
        // SAFETY: as above.
        unsafe { rank.all_gather(stream, &wide[i], &parts[i]) }.expect("fits");
    }
    let wait = || {
        all.iter()
            .try_for_each(|of| of.rank.synchronize(&of.stream))
    };
    wait().expect("it ends");
    assert_eq!(wide[2].read().expect("it is there"), [0, 10, -2, 5, 6, 7]);
    for (i, Rank { rank, stream, .. }) in all.iter().enumerate() {
        // SAFETY: as above.
        unsafe { rank.broadcast(stream, &given[i], 1) }.expect("fits");
    }
    wait().expect("it ends");
    assert_eq!(given[2].read().expect("it is there"), [1, 10, -1, 5, 6, 7]);
}

#[test]
fn halves_are_added_too() {
    fn sums<T: Element + PartialEq + std::fmt::Debug>(given: [[T; 2]; 2], expected: [T; 2]) {
        let all = ranks(2);
        let given = [0, 1].map(|i| all[i].give(&given[i]));
        let got = [0, 1].map(|i| all[i].room::<T>(2));
        for (i, Rank { rank, stream, .. }) in all.iter().enumerate() {
            // SAFETY: all buffers live as long as the streams.
            unsafe { rank.all_reduce(stream, &got[i], &given[i], Operator::Sum) }.expect("fits");
        }
        for (Rank { rank, stream, .. }, got) in all.iter().zip(&got) {
            rank.synchronize(stream).expect("it ends");
            assert_eq!(got.read().expect("it is there"), expected);
        }
    }
    let f = f16::from_f32;
    sums([[f(1.5), f(2048.0)], [f(2.0), f(1.0)]], [f(3.5), f(2048.0)]);
    let b = bf16::from_f32;
    sums([[b(1.5), b(256.0)], [b(2.0), b(1.0)]], [b(3.5), b(256.0)]);
}

#[test]
fn ranks_send_in_a_ring() {
    let all = ranks(4);
    let given: Vec<_> = (0..4).map(|i| all[i].give(&[i as f32; 3])).collect();
    let got: Vec<_> = all.iter().map(|rank| rank.room::<f32>(3)).collect();
    let one = ranks(1);
    let own = one[0].give(&[7_u8]);
    group(&[], || {
        for (i, Rank { rank, stream, .. }) in all.iter().enumerate() {
            // SAFETY: all buffers live as long as the streams.
            unsafe {
                rank.send(stream, &given[i], (i + 1) % 4)?;
                rank.receive(stream, &got[i], (i + 3) % 4)?;
            }
        }
        // SAFETY: as above.
        unsafe {
            one[0].rank.send(&one[0].stream, &own, 0)?;
            one[0].rank.receive(&one[0].stream, &own, 0)
        }
    })
    .expect("all match");
    for (i, Rank { rank, stream, .. }) in all.iter().enumerate() {
        rank.synchronize(stream).expect("it ends");
        assert_eq!(
            got[i].read().expect("it is there"),
            [((i + 3) % 4) as f32; 3]
        );
    }
}

fn message(result: Result<(), Error>) -> String {
    result.expect_err("it is wrong").to_string()
}

#[test]
fn calls_in_different_orders_name_both() {
    let all = ranks(2);
    let buffers: Vec<_> = all.iter().map(|rank| rank.give(&[1_f32; 4])).collect();
    let [zero, one] = &all[..] else { panic!() };
    // SAFETY: all buffers live as long as the streams.
    let (first, second) = unsafe {
        let sum = Operator::Sum;
        let first = zero
            .rank
            .all_reduce(&zero.stream, &buffers[0], &buffers[0], sum);
        (first, one.rank.broadcast(&one.stream, &buffers[1], 0))
    };
    first.expect("nobody knows yet");
    let text = message(second);
    assert!(
        text.contains("rank 0 calls all_reduce (sum) of 4 f32 at"),
        "{text}"
    );
    assert!(
        text.contains("rank 1 calls broadcast from rank 0 of 4 f32 at"),
        "{text}"
    );
    assert_eq!(
        text.matches("tests/collective/mod.rs:").count(),
        2,
        "{text}"
    );
    // Rank 0 learns of it, and nobody goes on.
    for Rank { rank, stream, .. } in &all {
        let text = message(rank.synchronize(stream));
        assert!(
            text.contains("since a call failed: the ranks' collective call 1 differs"),
            "{text}"
        );
        // SAFETY: as above.
        let again = unsafe { rank.all_reduce(stream, &buffers[0], &buffers[0], Operator::Sum) };
        again.expect_err("it cannot be used any more");
    }
}

#[test]
fn a_send_of_another_length_is_an_error_for_both() {
    let all = ranks(2);
    let (four, two) = (all[0].give(&[1_f32; 4]), all[1].room::<f32>(2));
    // SAFETY: both buffers live as long as the streams.
    unsafe { all[0].rank.send(&all[0].stream, &four, 1) }.expect("nobody knows yet");
    // SAFETY: as above.
    let text = message(unsafe { all[1].rank.receive(&all[1].stream, &two, 0) });
    assert!(
        text.contains("rank 0 calls send to rank 1 of 4 f32"),
        "{text}"
    );
    let text = message(all[0].rank.synchronize(&all[0].stream));
    assert!(
        text.contains("but rank 1 calls receive from rank 0 of 2 f32"),
        "{text}"
    );
}

#[test]
fn a_call_that_nobody_matched_keeps_its_stream_waiting() {
    let mut all = ranks(2);
    let buffer = all[0].give(&[1_f32; 4]);
    let Rank { rank, stream, .. } = &all[0];
    // SAFETY: the buffer lives as long as the stream.
    unsafe { rank.all_reduce(stream, &buffer, &buffer, Operator::Sum) }.expect("nobody knows yet");
    all.truncate(1);
    let Rank { rank, stream, .. } = all.remove(0);
    drop(rank);
    let text = message(stream.synchronize());
    assert!(text.contains("which other ranks have not made"), "{text}");
}

#[test]
fn a_simulators_graph_contains_no_call() {
    let all = ranks(1);
    let buffer = all[0].give(&[1_f32; 4]);
    let Rank { rank, stream, .. } = &all[0];
    // SAFETY: the buffer lives as long as the stream.
    let recorded =
        stream.record_graph(|| unsafe { rank.all_reduce(stream, &buffer, &buffer, Operator::Sum) });
    let text = recorded.expect_err("it would run at once").to_string();
    assert!(text.contains("cannot contain a collective call"), "{text}");
}

#[test]
fn ranks_are_different_devices_of_one_machine() {
    let refused = |devices: &[Device]| match Communicator::of_devices(devices) {
        Ok(_) => panic!("it is wrong"),
        Err(error) => error.to_string(),
    };
    let device = Device::simulator();
    let text = refused(&[device.clone(), device.clone()]);
    assert!(text.contains("device 0 is there twice"), "{text}");
    let text = refused(&[device, Device::simulator()]);
    assert!(text.contains("`Device::simulators`"), "{text}");
    let none = Communicator::of_devices(&[]).expect("no ranks of no devices");
    assert!(none.is_empty());
}

#[test]
fn a_missing_call_is_an_error_and_not_a_hang() {
    let all = ranks(3);
    let buffer = all[1].give(&[1_u64; 4]);
    let Rank { rank, stream, .. } = &all[1];
    // SAFETY: the buffer lives as long as the stream.
    unsafe { rank.all_reduce(stream, &buffer, &buffer, Operator::Max) }.expect("nobody knows yet");
    let text = message(rank.synchronize(stream));
    assert!(
        text.contains("rank 1 waits for its collective call 1, all_reduce (max)"),
        "{text}"
    );
    assert!(text.ends_with("have not made: 0, 2"), "{text}");
}

#[test]
fn what_does_not_fit_says_why() {
    let all = ranks(2);
    let (four, two) = (all[0].give(&[1_i8; 4]), all[0].give(&[1_i8; 2]));
    let others = all[1].give(&[1_i8; 4]);
    let Rank { rank, stream, .. } = &all[0];
    // SAFETY: all buffers live as long as the streams.
    unsafe {
        let text = message(rank.all_reduce(stream, &four, &two, Operator::Sum));
        assert!(text.contains("buffers for 4 and 2 values"), "{text}");
        let text = message(rank.all_gather(stream, &two, &two));
        assert!(text.contains("all ranks get what all give"), "{text}");
        let text = message(rank.broadcast(stream, &four, 2));
        assert!(text.contains("there is no rank 2"), "{text}");
        let text = message(rank.all_reduce(&all[1].stream, &four, &four, Operator::Sum));
        assert!(
            text.contains("the stream is on device 1, but rank 0 is device 0"),
            "{text}"
        );
        let text = message(rank.all_reduce(stream, &four, &others, Operator::Sum));
        assert!(text.contains("not on its device 0"), "{text}");
        // Nobody has written it.
        let empty = all[0].room::<i8>(4);
        rank.all_reduce(stream, &empty, &empty, Operator::Sum)
            .expect("nobody knows yet");
        let text = message(
            all[1]
                .rank
                .all_reduce(&all[1].stream, &others, &others, Operator::Sum),
        );
        assert!(text.contains("`got`"), "{text}");
    }
}
