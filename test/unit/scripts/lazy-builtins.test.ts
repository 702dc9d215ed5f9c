import { expect, test } from "vitest";
import { withLazyBuiltins } from "../../../scripts/lib/lazy-builtins.mjs";

function run(code: string): { readonly loaded: readonly string[]; readonly result: unknown } {
  const loaded: string[] = [];
  const load = (name: string): unknown => {
    loaded.push(name);
    return process.getBuiltinModule(name);
  };
  const result = new Function("require", withLazyBuiltins(code))(load);
  return { loaded, result };
}

const NET = 'let node_net = require("node:net");\n';

test("withLazyBuiltins loads a module when one of its names is used", () => {
  expect(run(`${NET}return () => new node_net.Socket();`).loaded).toEqual([]);
  const { loaded, result } = run(`${NET}return new node_net.Socket() instanceof node_net.Stream;`);
  expect({ loaded, result }).toEqual({ loaded: ["node:net", "node:net"], result: true });
});

test("withLazyBuiltins keeps modules that every command uses", () => {
  const code = 'let node_fs = require("node:fs");\nreturn () => (0, node_fs.existsSync)("/");';
  expect(withLazyBuiltins(code)).toBe(code);
});

test("withLazyBuiltins loads a module immediately if it is passed on as a whole", () => {
  expect(run(`${NET}node_net = Object.assign({}, node_net);\nreturn node_net.isIP("::1");`)).toEqual({
    loaded: ["node:net"],
    result: 6,
  });
});

test("withLazyBuiltins keeps the first line first", () => {
  expect(withLazyBuiltins(`#!/usr/bin/env node\n${NET}node_net.isIP("");`)).toMatch(
    /^#!\/usr\/bin\/env node\nconst builtins = \{/,
  );
});
