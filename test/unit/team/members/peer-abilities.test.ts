import { expect, test } from "vitest";
import { keepsRules, takesChanges } from "../../../../src/team/members/peer-abilities.ts";

test.each([
  ["2.1.34", "yes", "no"],
  ["2.1.100", "yes", "unknown"],
  ["2.1.150", "yes", "yes"],
  ["2.1.200", "yes", "yes"],
  ["2.1.225", "unknown", "yes"],
  ["2.1.250", "no", "yes"],
  ["2.1.330", "no", "yes"],
  ["2.2.0", "no", "yes"],
  ["1.0.9", "yes", "no"],
  [undefined, "unknown", "unknown"],
])(
  "claude %s › accepts changes of mode and rules: %s; keeps rules of an answer: %s",
  (version, takes, keeps) => {
    expect([takesChanges(version), keepsRules(version)]).toEqual([takes, keeps]);
  },
);
