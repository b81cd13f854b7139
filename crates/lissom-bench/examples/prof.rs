//! prof
use lissom_bench::chain::{Bench, chain};
fn main() {
    let a: Vec<usize> = std::env::args()
        .skip(1)
        .map(|x| x.parse().unwrap())
        .collect();
    let model = chain(a[0], a[1], true);
    let mut bench = Bench::<f64>::new(&model);
    for _ in 0..a[2] {
        bench.articulated();
        std::hint::black_box(&bench.acceleration);
    }
}
