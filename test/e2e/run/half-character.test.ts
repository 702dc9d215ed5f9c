import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { startFakeMessagesApi } from "../../support/model/fake-messages-api.ts";
import { scriptedTeam } from "../../support/model/scripted-team.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const uses = (name: string, input: object) => ({ name, input });
const ROCKET = "🚀";

it("an emoji at each limit › is sent whole or not at all, and the conversations of the team continue", async () => {
  const t = privateTmux();
  const skill = join(t.root, "skills", "launch", "SKILL.md");
  mkdirSync(dirname(skill), { recursive: true });
  writeFileSync(skill, `---\ndescription: ${"d".repeat(499)}${ROCKET}\n---\nCount down.\n`);
  const prints = "head -c 29999 /dev/zero | tr '\\0' b; printf '\\360\\237\\232\\200 and more'";
  const api = await startFakeMessagesApi(
    scriptedTeam({
      [LEAD_NAME]: [
        { when: /Look/, uses: [uses("Bash", { command: prints })] },
        {
          when: /tool_result/,
          uses: [uses("Agent", { name: "ann", prompt: "Report.", description: "reports" })],
        },
        { when: /teammate_spawned/, says: "She reports." },
        { when: /ann is idle/, says: "All is reported." },
      ],
      ann: [{ when: /Report/, says: `${"w".repeat(3_999)}${ROCKET}` }],
    }).script,
  );
  onTestFinished(() => api.close());
  const env = { ...t.env, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-000000000000" };
  const words = ["run", "--team", "crew", "--model", "claude-fake", "--permission-mode", "bypassPermissions"];
  const ended = await teamsIn(env, t.home)([...words, "--teammate-mode", "in-process", "Look"]);
  expect([ended.code, ended.err]).toEqual([0, expect.not.stringContaining("surrogate")]);
  expect(ended.out).toMatch(/All is reported\.\s*$/);
  const sent = JSON.stringify(api.requests.map(({ body }) => body));
  expect(sent).toMatch(/b{29999}\\n… \(\d+ characters in all; /);
  expect(sent).toMatch(/d{499}… \(1 more character\)/);
  expect(sent).not.toMatch(/\\ud[89a-f]|\ufffd/);
  await leaves(t, nothing());
});
