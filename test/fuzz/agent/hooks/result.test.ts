import fc from "fast-check";
import { expect, test } from "vitest";
import { hookResult } from "../../../../src/agent/hooks/result.ts";
import { cases, json } from "../../../support/random/arbitraries.ts";

const known = fc.record(
  {
    continue: json,
    stopReason: json,
    decision: fc.oneof(json, fc.constantFrom("block", "approve")),
    reason: json,
    systemMessage: json,
    permissionDecision: fc.oneof(json, fc.constantFrom("allow", "deny", "ask")),
    permissionDecisionReason: json,
    hookSpecificOutput: fc.oneof(
      json,
      fc.record({ permissionDecision: json, permissionDecisionReason: json }),
    ),
  },
  { requiredKeys: [] },
);
const printed = fc.oneof(
  known.map((answer) => JSON.stringify(answer)),
  json.map((value) => JSON.stringify(value)),
  fc.string({ unit: "binary" }),
  fc.string({ unit: "binary" }).map((text) => `{${text}`),
);

test("hookResult maps any output to one of its kinds, without control characters", () => {
  fc.assert(
    fc.property(printed, printed, fc.constantFrom(0, 1, 2, 127, 255), (stdout, stderr, code) => {
      const result = hookResult({ code, signal: undefined, stdout, stderr });
      expect(["success", "non-blocking error", "stopped continuation"]).toContain(result.kind);
      const texts =
        result.kind === "success"
          ? [result.stdout, result.message ?? "", result.permission?.reason ?? ""]
          : [result.text];
      for (const text of texts) expect(text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f]/);
      if (code === 2) expect(result.kind).toBe("stopped continuation");
      if (code === 1) expect(result.kind).toBe("non-blocking error");
    }),
    cases(2_000),
  );
});
