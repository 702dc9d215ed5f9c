import { expect, test } from "vitest";
import { checkedParser, currentParser, REQUIRED_LINES } from "../support/attack/checked-parser.ts";

const STEPS = `run ATTACK_LINES=${REQUIRED_LINES} npm test -- test/attack/random.test.ts, which records the version that passed`;

/** The parser reads each line for the permission rules. Another version may read a line differently from shells. */
test("the parser of command lines › is exactly the one that passed the random lines", () => {
  const { version, integrity, lines } = checkedParser();
  const current = currentParser();
  for (const [file, found] of Object.entries(current.versions))
    expect(found, `unbash in ${file}: ${STEPS}`).toBe(version);
  expect(current.integrity, `the checksum of unbash: ${STEPS}`).toBe(integrity);
  expect(lines, STEPS).toBeGreaterThanOrEqual(REQUIRED_LINES);
});
