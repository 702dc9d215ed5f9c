import { readFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { startFakeMessagesApi } from "../../support/model/fake-messages-api.ts";
import { scriptedTeam } from "../../support/model/scripted-team.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const uses = (name: string, input: object) => ({ name, input });
const spawns = (name: string) => uses("Agent", { name, prompt: `Report, ${name}.`, description: "reports" });
/** A call before the report: an idle notice wakes the lead only if the teammate has worked. */
const LOOKS = { when: /Report/, uses: [uses("TaskList", {})] };
const report = (lines: number): string =>
  `${Array.from({ length: lines }, (_, i) => `finding ${i + 1} 🚀\n`).join("")}the end of the report`;

it.each(["tmux", "in-process"])(
  "a teammate's last text › reaches the lead whole, or with a file that the lead may read (%s)",
  async (mode) => {
    const t = privateTmux();
    const [long, longer] = [report(1_500), report(4_000)];
    const { script, asked } = scriptedTeam({
      [LEAD_NAME]: [
        { when: /Look/, uses: [spawns("ann")] },
        { when: /teammate_spawned/, says: "She reports." },
        { when: /ann is idle/, uses: [spawns("ben")] },
        { when: /teammate_spawned/, says: "He reports." },
        { when: /Read all of it in ([^\s)]+)\)/, uses: [uses("Read", { file_path: "$1", offset: 3_990 })] },
        { when: /tool_result/, says: "All is read." },
      ],
      ann: [LOOKS, { when: /tool_result/, says: long }],
      ben: [LOOKS, { when: /tool_result/, says: longer }],
    });
    const api = await startFakeMessagesApi(script);
    onTestFinished(() => api.close());
    const env = { ...t.env, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-000000000000" };
    const words = ["run", "--team", "crew", "--model", "claude-fake", "--teammate-mode", mode];
    const ended = await teamsIn(env, t.home)([...words, "Look"]);
    expect([ended.code, ended.out]).toEqual([0, expect.stringMatching(/All is read\.\s*$/)]);
    const heard = (pattern: RegExp) => asked.find(({ newest }) => pattern.test(newest))?.newest ?? "";
    expect(heard(/ann is idle/)).toContain(`It says: ${JSON.stringify(long).slice(1, -1)}`);
    const [notice, whole] = [heard(/ben is idle/), heard(/tool_result.*end of the report/)];
    expect(notice).toMatch(/finding 1 🚀.*… \(\d+ more characters\. Read all of it in /);
    expect(notice).not.toContain("the end of the report");
    expect(whole).toContain("finding 4000 🚀");
    const [, file = ""] = /Read all of it in ([^\s)]+)\)/.exec(notice) ?? [];
    expect(readFileSync(file, "utf8")).toBe(longer);
    await leaves(t, nothing());
  },
);
