import { expect, test } from "vitest";
import { checkedParser, parserHere, REQUIRED_LINES } from "../support/attack/checked-parser.ts";

const STEPS = `run ATTACK_LINES=${REQUIRED_LINES} npm test -- test/attack/random.test.ts, which records the version that passed`;

/** The parser reads each line for the permission rules. Another version may read a line differently from shells. */
test("the parser of command lines › is exactly the one that passed the random lines", () => {
  const { version, integrity, lines } = checkedParser();
  const here = parserHere();
  for (const [place, found] of Object.entries(here.versions))
    expect(found, `unbash in ${place}: ${STEPS}`).toBe(version);
  expect(here.integrity, `the checksum of unbash: ${STEPS}`).toBe(integrity);
  expect(lines, STEPS).toBeGreaterThanOrEqual(REQUIRED_LINES);
});
