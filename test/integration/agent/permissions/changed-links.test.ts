import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createAgent } from "../../../../src/agent/agent.ts";
import { openTranscript } from "../../../../src/agent/conversation/transcript.ts";
import { scriptedModel } from "../../../../src/agent/playbook/scripted-model.ts";
import { builtinTools } from "../../../../src/agent/tools/builtin-tools.ts";
import { parsePlaybook } from "../../../../src/schema/playbook.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

/**
 * Runs a command in a project whose link `docs` leads inside it, and allows each request. After the first request the
 * link leads outside. Returns the number of requests, and whether the file outside was written.
 */
async function requestsFor(command: string, changesLink: boolean): Promise<[number, boolean]> {
  const home = realpathSync(temporaryDirectory());
  const [cwd, outside] = [join(home, "project"), join(home, "outside")];
  for (const directory of [join(cwd, "inside"), outside]) mkdirSync(directory, { recursive: true });
  for (const file of [join(cwd, "a"), join(cwd, "inside/n")]) writeFileSync(file, "old\n");
  symlinkSync("inside", join(cwd, "docs"));
  const turns = [{ tools: [{ name: "Bash", input: { command } }] }, { say: "Done." }];
  const playbook = parsePlaybook(JSON.stringify({ version: 1, agents: { "*": turns } }), "test");
  const env = { PATH: process.env.PATH, HOME: home };
  let requests = 0;
  const agent = createAgent({
    model: scriptedModel({ playbook, agent: "ada", cwd, env, speed: 1000 }),
    tools: builtinTools(),
    system: "You are ada.",
    transcript: openTranscript(join(home, "s1.jsonl"), { sessionId: "s1", secrets: [] }),
    cwd,
    env,
    permissions: {
      mode: () => "default",
      rules: { allow: ["Bash(echo:*)"], ask: [], deny: [] },
      workingDirs: [cwd],
      async ask() {
        requests += 1;
        if (requests === 1 && changesLink) {
          rmSync(join(cwd, "docs"));
          symlinkSync("../outside", join(cwd, "docs"));
        }
        return { allowed: true };
      },
    },
    onEvent: () => undefined,
  });
  const text = { text: "go", origin: { text: "go", from: "team-lead" }, keys: [] };
  expect(await agent.run(text, new AbortController().signal)).toMatchObject({ outcome: "completed" });
  return [requests, existsSync(join(outside, "n"))];
}

test.each([
  ["a loop", "for i in 1; do echo x > docs/n; done"],
  ["the items of a loop", 'for d in docs; do echo x > "$d/n"; done'],
  ["a substitution", 'echo "$(tee docs/n < a)"'],
  ["backticks", "echo `tee docs/n < a`"],
  ["a substitution in a loop", "while [ ! -e b ]; do touch b; echo $(cp a docs/n); done"],
  ["a quoted script", "bash -c 'echo x > docs/n'"],
  ["a quoted script in a loop", `for i in 1; do sh -c "tee docs/n < a"; done`],
  ["eval", "eval 'echo x > docs/n'"],
  ["a function", "f() { echo x > docs/n; }; f"],
  ["a case statement", "case x in x) echo x > docs/n;; esac"],
  ["a group with a redirection", "{ touch b; echo b; } > docs/n"],
  ["a redirection", "touch b; echo x > docs/n"],
  ["a redirection to a variable's directory", 'echo x > "$PWD/docs/n"'],
  ["a redirection below the home directory", 'touch b; echo x > "$HOME/project/docs/n"'],
  ["a variable", 'D=docs; echo x > "$D/n"'],
  ["a here-document that a shell runs", "bash <<E\necho x > docs/n\nE"],
  ["a directory entered with cd", "cd docs && echo x > n"],
  ["the words of a command", "cp a docs/n"],
])("a waiting call › asks again if a link changes meanwhile: in %s", async (_, command) => {
  expect(await requestsFor(command, false)).toEqual([1, false]);
  expect(await requestsFor(command, true)).toEqual([2, true]);
});

// The bash of macOS has no coprocesses.
test.skipIf(platform() === "darwin")(
  "a waiting call › asks again if a link changes meanwhile: in a coprocess",
  async () => {
    const command = "coproc tee docs/n < a; wait";
    expect(await requestsFor(command, false)).toEqual([1, false]);
    expect(await requestsFor(command, true)).toEqual([2, true]);
  },
);

test.each([
  ["a redirection of a loop", "for i in 1; do touch b; cat; done < docs/n"],
  ["a command that only reads", "touch b; cat docs/n"],
  [
    "a command after 600 other words",
    `touch ${Array.from({ length: 600 }, (_, i) => `b${i}`).join(" ")}; cat docs/n`,
  ],
  ["a substitution that reads", 'touch "$(cat docs/n)"'],
])("a waiting call › asks again if a link that it reads changes meanwhile: in %s", async (_, command) => {
  expect(await requestsFor(command, false)).toEqual([1, false]);
  expect(await requestsFor(command, true)).toEqual([2, false]);
});
