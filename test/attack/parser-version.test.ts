import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string): never =>
  JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")) as never;

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}
interface Lock {
  readonly packages: Readonly<Record<string, Manifest>>;
}

/** The parser reads each line for the permission rules. Another version may read a line otherwise than shells do. */
test("the parser of command lines › has exactly the version that passed a million random lines", () => {
  const { unbash: checked } = read("checked-parser.json") as { readonly unbash: string };
  const lock = (read("../../package-lock.json") as Lock).packages;
  const versions = {
    "package.json": (read("../../package.json") as Manifest).dependencies.unbash,
    "package-lock.json": lock[""]?.dependencies.unbash,
    "the package in it": lock["node_modules/unbash"]?.version,
    "node_modules/unbash": (read("../../node_modules/unbash/package.json") as Manifest).version,
  };
  const steps = "first run ATTACK_LINES=1000000 npm test -- test/attack, then change checked-parser.json";
  for (const [place, version] of Object.entries(versions))
    expect(version, `${place}: ${steps}`).toBe(checked);
});
