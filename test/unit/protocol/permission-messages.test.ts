import { describe, expect, it, test } from "vitest";
import { addRules, rulesAdded } from "../../../src/protocol/permission-messages.ts";

describe("permission updates", () => {
  it("addRules writes the rules in the protocol's form, and rulesAdded reads them back", () => {
    const rules = ["Bash(git log:*)", "Read", "Edit(//tmp/a (1).txt)"];
    const update = addRules(rules, "localSettings");
    expect(update).toEqual({
      type: "addRules",
      rules: [
        { toolName: "Bash", ruleContent: "git log:*" },
        { toolName: "Read" },
        { toolName: "Edit", ruleContent: "//tmp/a (1).txt" },
      ],
      behavior: "allow",
      destination: "localSettings",
    });
    expect(rulesAdded(update)).toEqual(rules);
  });

  test.each<[unknown, readonly string[]]>([
    ["Bash(ls)", ["Bash(ls)"]],
    [
      { type: "addRules", behavior: "allow", rules: ["Bash(ls)", { toolName: "Read", ruleContent: 5 }] },
      ["Bash(ls)", "Read"],
    ],
    [{ type: "addRules", behavior: "deny", rules: ["Bash"] }, []],
    [{ type: "addRules", rules: ["Bash"] }, []],
    [{ type: "setMode", mode: "bypassPermissions", behavior: "allow" }, []],
    [{ type: "addRules", behavior: "allow", rules: "Bash" }, []],
    [{ type: "addRules", behavior: "allow", rules: [null, 5, { ruleContent: "ls" }] }, []],
    [null, []],
    [7, []],
  ])("rulesAdded: %j adds %j", (update, rules) => {
    expect(rulesAdded(update)).toEqual(rules);
  });
});
