//! The JSON Schema of the model file.

use serde_json::{Value, json};

/// Keys of numbers of a schema that say nothing of how small or how large they may be.
fn without_bounds(schema: &Value, at: &str, found: &mut Vec<String>) {
    match schema {
        Value::Object(object) => {
            let is = |name: &str| {
                let kind = &schema["type"];
                kind == name
                    || kind
                        .as_array()
                        .is_some_and(|all| all.contains(&json!(name)))
            };
            let states = |keys: [&str; 2]| keys.iter().any(|&key| object.contains_key(key));
            let stated =
                states(["minimum", "exclusiveMinimum"]) && states(["maximum", "exclusiveMaximum"]);
            if (is("number") || is("integer")) && !stated {
                found.push(at.to_owned());
            }
            for (key, inside) in object {
                without_bounds(inside, &format!("{at}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (index, inside) in items.iter().enumerate() {
                without_bounds(inside, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn every_number_of_the_format_has_bounds() {
    let mut found = Vec::new();
    let schema = serde_json::from_str(&lissom_spec::json_schema()).unwrap();
    without_bounds(&schema, "", &mut found);
    assert!(found.is_empty(), "{found:#?}");
}

/// Property: what must be above zero is so by more than the smallest number that there is, of which quotients are none.
#[test]
fn numbers_above_zero_have_a_smallest() {
    let schema = lissom_spec::json_schema();
    assert!(!schema.contains("\"exclusiveMinimum\": 0"), "{schema}");
}
