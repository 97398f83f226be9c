//! Loads one table and prints the seconds it took, its size and the process's peak memory: what
//! `benches/peers/load.py` compares with pyarrow. With `--stream` the table is read piece by piece.

use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: load FILE [--stream]")?;
    let stream = arguments.next().as_deref() == Some("--stream");
    let start = Instant::now();
    let (rows, columns) = if stream {
        let tables = redress_data::TableStream::open(&path, &Default::default(), &[])?;
        let columns = tables.columns().len();
        let mut rows = 0;
        for table in tables {
            rows += table?.rows();
        }
        (rows, columns)
    } else {
        let table = redress_data::read_table(&path, &Default::default(), &[])?;
        (table.rows(), table.columns().len())
    };
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{{\"seconds\": {seconds:.4}, \"rows\": {rows}, \"columns\": {columns}, \"peak_bytes\": {}}}",
        peak_bytes()
    );
    Ok(())
}

/// The largest resident size so far, where the system tells it.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
