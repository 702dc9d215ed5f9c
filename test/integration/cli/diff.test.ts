import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addMembers } from "../../../src/team/members/members.ts";
import { teamRef } from "../../../src/team/ref.ts";
import { GIT_IDENTITY } from "../../support/files/git.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";
import { createRepository } from "../../support/team/landing-team.ts";

/** Creates a team with a member that works in a repository. */
async function teamInRepository(): Promise<{ readonly teams: Cli; readonly repository: string }> {
  const teams = cliIn();
  const repository = createRepository(realpathSync(temporaryDirectory()));
  await teams(["create", "review"]);
  const ref = teamRef({ root: teams.root, runtime: join(teams.directory, "runtime", "teams") }, "review");
  await addMembers(ref, [{ name: "dev", cwd: repository }]);
  return { teams, repository };
}

const env = { ...GIT_IDENTITY, PAGER: "cat" };

test("diff › prints a heading, the files and the patch, with control characters as escapes", async () => {
  const { teams, repository } = await teamInRepository();
  expect((await teams(["diff"], { env })).out).toBe("No agent has changes.\n");
  writeFileSync(join(repository, "shared.txt"), "one\n\x1b[2Jtwo\r-three\u202e\nthree\n");
  writeFileSync(join(repository, "a\nb.txt"), "new\r\n");
  const { out } = await teams(["diff", "dev"], { env });
  const [heading = "", ...rows] = out.split("\n");
  expect(heading).toMatch(/^dev - 2 files, \+2 -1 since [0-9a-f]{10}, in \//);
  expect(rows.slice(0, 3)).toEqual(["  A a\\nb.txt    1 +", "  M shared.txt  2 +-", ""]);
  expect(rows).toContain("+\\u001b[2Jtwo\\u000d-three\\u202e");
  expect(rows).toContain("+new^M");
  expect(out).not.toMatch(/[\x00-\x09\x0b-\x1f\u202e]/);
  const colored = await teams(["diff", "dev", "--stat"], { env, terminal: true });
  expect(colored.out).toContain("\x1b[");
  expect(colored.out).not.toContain("@@");
});

test("diff › shows a person the lines with their numbers", async () => {
  const { teams, repository } = await teamInRepository();
  writeFileSync(join(repository, "shared.txt"), "one\ntwo \x1b[2J\nthree\n");
  writeFileSync(join(repository, "new.txt"), "new\n");
  const { out } = await teams(["diff", "dev"], { env: { ...env, NO_COLOR: "1" }, terminal: true });
  expect(out.split("\n").slice(4)).toEqual([
    ...["A new.txt", "1 + new", ""],
    ...["M shared.txt", "1   one", "2 - two", "2 + two \\u001b[2J", "3   three", ""],
  ]);
  const colored = await teams(["diff", "dev"], { env, terminal: true });
  expect(colored.out).toContain("\x1b[38;5;64m+ two");
});

test("diff › prints one object with --json, and without the patches with --stat", async () => {
  const { teams, repository } = await teamInRepository();
  writeFileSync(join(repository, "new.txt"), "a\n");
  const { diffs } = (await teams(["diff", "--json"], { env })).json<{ diffs: object[] }>();
  const files = [{ path: "new.txt", added: 1, removed: 0, status: "added" }];
  const rest = { agent: "dev", sharedWith: [], directory: repository, files };
  expect(diffs).toEqual([
    { ...rest, base: expect.stringMatching(/^[0-9a-f]{40}$/), patch: expect.stringContaining("+a\n") },
  ]);
  const stat = (await teams(["diff", "--json", "--stat"], { env })).json<{ diffs: object[] }>();
  expect(stat.diffs).toEqual([{ ...rest, base: expect.any(String) }]);
});

test("diff › sends the comments of a file or of stdin as one message, or nothing when one is wrong", async () => {
  const { teams, repository } = await teamInRepository();
  const file = join(repository, "review.txt");
  writeFileSync(file, "shared.txt:1: why?\nshared.txt 2: x\n");
  const refused = await teams(["diff", "dev", "--comment-file", file, "--json"], { env });
  expect(refused.code).toBe(2);
  expect(refused.error().message).toContain("line 2");
  expect((await teams(["diff", "dev", "--comment-file", "missing.txt"], { env })).code).toBe(2);
  expect((await teams(["diff", "--comment-file", file], { env })).code).toBe(2);
  const none = (await teams(["inbox", "dev", "--all", "--json"])).json<{ messages: object[] }>();
  expect(none.messages).toEqual([]);
  const stdin = "shared.txt:1: why?\nshared.txt:2: x\n";
  const sent = await teams(["diff", "dev", "--comment-file", "-", "--json"], { env, stdin });
  expect(sent.json()).toMatchObject({ agent: "dev", comments: [{ line: 1 }, { line: 2 }] });
  const { messages } = (await teams(["inbox", "dev", "--all", "--json"])).json<{
    messages: { text: string }[];
  }>();
  expect(messages.map(({ text }) => text)).toEqual([expect.stringContaining("shared.txt:2\n> two\n\nx")]);
});
