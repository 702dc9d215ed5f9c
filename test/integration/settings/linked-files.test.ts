import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { protectedDirectories, protectedReason } from "../../../src/agent/permissions/protected-paths.ts";
import { removeTree } from "../../../src/os/files/fs.ts";
import { prepareRuleChange } from "../../../src/settings/save-rule.ts";
import { trustDecision } from "../../../src/settings/trust.ts";
import { git } from "../../support/files/git.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";

/** Creates a root whose file of this name is a link into a directory of dotfiles, and a repository. */
function linked(name: string, text?: string, dotfiles = temporaryDirectory()) {
  const cli = cliIn(realpathSync(temporaryDirectory()));
  mkdirSync(cli.root);
  const target = join(realpathSync(dotfiles), "teams", name);
  if (text !== undefined) {
    mkdirSync(join(target, ".."));
    writeFileSync(target, text);
  }
  const link = join(cli.root, name);
  symlinkSync(target, link);
  const repo = join(cli.directory, "repo");
  git(cli.directory, "init", "--quiet", repo);
  return { cli, target, link, repo };
}

describe("a file of the user that is a link", () => {
  it.each([
    ["is an empty record", "{}"],
    ["is missing, with its directory", undefined],
  ])("teams-trust.json stays a link, and its target changes, if the target %s", async (_, text) => {
    const { cli, target, link, repo } = linked("teams-trust.json", text);
    expect((await cli(["trust", repo])).code).toBe(0);
    expect(readlinkSync(link)).toBe(target);
    expect(lstatSync(target).isFile()).toBe(true);
    expect(Object.keys(JSON.parse(readFileSync(target, "utf8")).directories)).toEqual([repo]);
    expect(statSync(target).mode & 0o777).toBe(0o600);
    expect(trustDecision(cli.root, repo)).toBe(true);
    // Lock and temporary files were next to the target, and are gone.
    expect(readdirSync(join(target, ".."))).toEqual(["teams-trust.json"]);
    expect((await cli(["trust", repo, "--revoke"])).code).toBe(0);
    expect(readlinkSync(link)).toBe(target);
    expect(trustDecision(cli.root, repo)).toBeUndefined();
  });

  it.runIf(existsSync("/dev/shm"))("works on another file system", async () => {
    const other = join("/dev/shm", `teams-linked-${process.pid}`);
    mkdirSync(other);
    onTestFinished(() => removeTree(other));
    const { cli, target, link, repo } = linked("teams-trust.json", "{}", other);
    expect((await cli(["trust", repo])).code).toBe(0);
    expect([readlinkSync(link), trustDecision(cli.root, repo)]).toEqual([target, true]);
  });

  it("works through a link to a link, with one lock for both names", async () => {
    const { cli, target, link, repo } = linked("teams-trust.json", "{}");
    const other = cliIn(realpathSync(temporaryDirectory()));
    mkdirSync(other.root);
    symlinkSync(link, join(other.root, "teams-trust.json"));
    const names = Array.from({ length: 6 }, (_, n) => join(cli.directory, `repo-${n}`));
    for (const name of names) git(cli.directory, "init", "--quiet", name);
    const ended = await Promise.all(names.map((name, n) => (n % 2 === 0 ? cli : other)(["trust", name])));
    expect(ended.map(({ code }) => code)).toEqual(names.map(() => 0));
    expect(Object.keys(JSON.parse(readFileSync(target, "utf8")).directories).sort()).toEqual(names);
    expect(trustDecision(cli.root, repo)).toBeUndefined();
  });

  it("fails with its name, and changes nothing, if it leads in a circle", async () => {
    const { cli, link, repo } = linked("teams-trust.json");
    rmSync(link);
    symlinkSync("teams-trust.json", link);
    const failed = await cli(["trust", repo]);
    expect([failed.code, failed.err]).toEqual([1, expect.stringContaining(link)]);
    expect(failed.err).not.toContain("defect");
    expect(readlinkSync(link)).toBe("teams-trust.json");
  });

  it("is named, with its state, if it leads to a place that cannot be written", async () => {
    const { cli, link, repo } = linked("teams-trust.json");
    rmSync(link);
    symlinkSync("/dev/null/teams-trust.json", link);
    const failed = await cli(["trust", repo]);
    expect([failed.code, failed.err]).toEqual([1, expect.stringContaining(`${link} cannot be written`)]);
    expect(failed.err).toContain("it is unchanged");
    expect(readlinkSync(link)).toBe("/dev/null/teams-trust.json");
  });

  it("settings.json keeps its link when a rule is saved, and its target is protected like teams' directory", async () => {
    const { cli, target, link, repo } = linked("settings.json", '{"permissions":{"allow":["Read"]}}');
    await prepareRuleChange(cli.root, repo, "user", ["Bash(make:*)"], "person").save();
    expect(readlinkSync(link)).toBe(target);
    expect(JSON.parse(readFileSync(target, "utf8")).permissions.allow).toEqual(["Read", "Bash(make:*)"]);
    expect(protectedReason(target, protectedDirectories(cli.root))).toContain("teams' own directory");
    expect(protectedReason(join(target, "../other"), protectedDirectories(cli.root))).toBeUndefined();
  });
});

describe("a link in a project", () => {
  const project = (name: string, target: string) => {
    const { cli, repo } = linked("unused.json");
    mkdirSync(join(repo, ".claude"));
    symlinkSync(target, join(repo, ".claude", name));
    return { cli, repo };
  };

  test.each([
    ["settings.local.json", "local"],
    ["settings.json", "project"],
  ] as const)("%s › is not followed out of the project to save a rule", async (name, where) => {
    const victim = join(realpathSync(temporaryDirectory()), "settings.json");
    writeFileSync(victim, "{}");
    for (const target of [victim, join(victim, "../new.json"), name]) {
      const { cli, repo } = project(name, target);
      expect((await cli(["trust", repo])).code).toBe(0);
      expect(() => prepareRuleChange(cli.root, repo, where, ["Bash(make:*)"], "person")).toThrow(
        target === name ? /cannot be resolved/ : /leads out of the project/,
      );
    }
    expect(readFileSync(victim, "utf8")).toBe("{}");
    expect(existsSync(join(victim, "../new.json"))).toBe(false);
  });

  test("is followed inside the project", async () => {
    const { cli, repo } = project("settings.local.json", "../mine.json");
    await cli(["trust", repo]);
    await prepareRuleChange(cli.root, repo, "local", ["Bash(make:*)"], "person").save();
    expect(JSON.parse(readFileSync(join(repo, "mine.json"), "utf8")).permissions.allow).toEqual([
      "Bash(make:*)",
    ]);
    expect(lstatSync(join(repo, ".claude/settings.local.json")).isSymbolicLink()).toBe(true);
  });
});
