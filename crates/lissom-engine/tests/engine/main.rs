//! From the text of a model to its motion, rest, vibrations and scene: runs, analyses, published cases, and what is said of
//! texts that are wrong.
//!
//! `models`, `shipped`, `runs` and `numbers` hold no tests: what several of the others begin with, run and compare.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic too")]

mod assembly;
mod balls_in_loops;
mod bending_torsion;
mod bent_starts;
mod chain_bases;
mod choice_of_integrator;
mod closures;
mod conservation;
mod control;
mod converge;
mod damaren_sharf;
mod deformations;
mod elements;
mod end_effector;
mod equilibrium;
mod evaluate;
mod evaluator;
mod exaggeration;
mod feedback;
mod fidelity;
mod follower_loads;
mod formulations;
mod frequencies;
mod geometric_stiffness;
mod growth;
mod heavy_loads;
mod implicit_stages;
mod inputs_and_audit;
mod inverse_dynamics;
mod inverse_kinematics;
mod jain_rodriguez;
mod jonker_aarts;
mod linearize;
mod loops_in_both;
mod lowest_modes;
mod model_errors;
mod models;
mod modes;
mod nominal_motion;
mod nominal_orientation;
mod nominal_paths;
mod numbers;
mod pan_scott_ulsoy;
mod perturbation;
mod perturbed_control;
mod repartitioning;
mod rest_and_start;
mod rigid_links;
mod runs;
mod sampled;
mod sampled_control;
mod scene;
mod schema;
mod section_loads;
mod sensor_outputs;
mod sensors;
mod shaping;
mod shipped;
mod signals;
mod simulation;
mod starts;
mod state_space_control;
mod stops;
mod supports;
mod table;
