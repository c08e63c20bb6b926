// Runs the golden vectors in a WebAssembly module that imports nothing: node check.mjs wasm.wasm
import { readFile } from "node:fs/promises";

const { instance } = await WebAssembly.instantiate(await readFile(process.argv[2]), {});
instance.exports.bytepair_vectors_hold();
console.log("All vectors hold in WebAssembly.");
