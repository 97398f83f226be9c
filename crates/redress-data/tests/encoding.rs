//! Decode inverts encode on every row of every data set.

use std::{path::PathBuf, sync::Arc};

use redress::{
    dataset::{Dataset, Schema},
    encoding::Encoding,
};
use redress_data::{DataFolders, datasets, load};

/// Where compas and bail are looked for.
fn folders() -> DataFolders {
    match std::env::var_os("REDRESS_DATA") {
        Some(folder) => DataFolders::only(PathBuf::from(folder)),
        None => DataFolders::only(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data")),
    }
}

#[test]
fn every_row_of_every_data_set_comes_back() {
    for builtin in datasets() {
        let policy = builtin.policy();
        let Ok(tables) = load(&policy, ".", &folders()) else {
            eprintln!("SKIPPED: {} is not here (set REDRESS_DATA)", builtin.name);
            continue;
        };
        let schema = Arc::new(Schema::resolve(&policy, &tables.table).unwrap());
        let (dataset, _) = Dataset::read(&policy, schema, &tables.table).unwrap();
        let encoding = Encoding::fit(&dataset);
        let (mut point, mut again) = (vec![0.0f32; encoding.width()], vec![0.0f32; encoding.width()]);
        for row in 0..dataset.len() {
            let person = dataset.people.row(row);
            encoding.encode(person, &mut point);
            let decoded = encoding.decode(&point).unwrap();
            encoding.encode(&decoded, &mut again);
            assert_eq!(point, again, "{} row {row}: the decoded person is another point", builtin.name);
            // Numbers with more digits than f32 holds come back to the nearest; everything else exactly.
            for (feature, (was, is)) in person.iter().zip(&decoded).enumerate() {
                let near = (was - is).abs() <= 1e-6 * encoding.deviation(feature).max(was.abs());
                assert!(near, "{} row {row}, feature {feature}: {was} came back as {is}", builtin.name);
                assert!(builtin.name == "loan" || was == is, "{} row {row}, feature {feature}", builtin.name);
            }
        }
    }
}
