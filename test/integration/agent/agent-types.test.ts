import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readAgentTypes } from "../../../src/agent/prompts/agent-type-files.ts";
import type { AgentTypes } from "../../../src/agent/prompts/agent-types.ts";
import { findAgentType } from "../../../src/agent/prompts/agent-types.ts";
import { openNotes } from "../../../src/agent/prompts/type-notes.ts";
import { systemClock } from "../../../src/os/clock.ts";
import { agentTypesIn } from "../../../src/runtime/agent/load-agent-types.ts";
import { unconfirmedParts } from "../../../src/settings/project-parts.ts";
import { loadSettings } from "../../../src/settings/settings.ts";
import { setTrust } from "../../../src/settings/trust.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { writeTree } from "../../support/files/write-tree.ts";

/** Creates a root and a project with these files; a text that begins with `-> ` makes a symlink. */
function files(texts: Readonly<Record<string, string>>) {
  const home = temporaryDirectory();
  writeTree(home, texts);
  for (const name of ["root", "project"]) mkdirSync(join(home, name), { recursive: true });
  return { home, root: join(home, "root"), project: join(home, "project") };
}

const type = (matter: string, body = "Do it.") => `---\n${matter}\n---\n${body}\n`;
const custom = ({ types }: Pick<AgentTypes, "types">) => types.filter(({ file }) => file !== undefined);

describe("agent type files", () => {
  it("are read with all their fields", () => {
    const { root } = files({
      "root/agents/scribe.md": type(
        "name: scribe\ndescription: Writes\n  it down.\ntools: Read, Write mcp__docs\ndisallowedTools: [Bash(rm:*), Edit]\nmodel: opus\npermissionMode: acceptEdits\ncolor: pink\nmemory: project\ncli: codex\neffort: high\nunknown: 7",
        "You are a scribe.",
      ),
    });
    const read = readAgentTypes([{ directory: join(root, "agents"), names: ["scribe.md"] }]);
    expect(read.problems).toEqual([]);
    expect(custom(read)).toEqual([
      {
        name: "scribe",
        description: "Writes it down.",
        tools: ["Read", "Write", "mcp__docs"],
        disallowedTools: ["Bash(rm:*)", "Edit"],
        model: "opus",
        permissionMode: "acceptEdits",
        color: "pink",
        memory: "project",
        cli: "codex",
        effort: "high",
        custom: "You are a scribe.",
        prompt: expect.stringContaining("whatever the work needs"),
        file: join(root, "agents/scribe.md"),
      },
    ]);
  });

  it.each([
    ["no front matter", "Just text.", "front matter has no name"],
    ["invalid YAML", "---\nname: [\n---\n", "at line"],
    ["a name with spaces", type("name: -x y"), "cannot be the name"],
    ["a name that is a path", type("name: ../../x"), "cannot be the name"],
    ["a cli that is a path", type("name: x\ncli: ../codex"), "its cli must be the name"],
    ["empty tools", type("name: x\ntools:"), "its tools must be a list"],
    ["tools that are not words", type("name: x\ntools: [Read, 7]"), "its tools must be a list"],
    ["a permission pattern in tools", type("name: x\ntools: Bash(git:*)"), "is not a name"],
    [
      "disallowedTools that are a map",
      type("name: x\ndisallowedTools: {Bash: true}"),
      "its disallowedTools must be a list",
    ],
    ["an unknown mode", type("name: x\npermissionMode: plann"), "its permissionMode must be default,"],
    ["the mode of a lead", type("name: x\npermissionMode: delegate"), "its permissionMode must be default,"],
    ["an invalid model name", type("name: x\nmodel: a b"), "is not a valid model name"],
    ["an unknown place for notes", type("name: x\nmemory: team"), "its memory must be user,"],
  ])("with %s are reported and do not hide other files", async (_title, text, problem) => {
    const { root, project } = files({
      "root/agents/a-good.md": type("name: good"),
      "root/agents/bad.md": text,
      "root/agents/z-better.md": type("name: better"),
    });
    const found = await agentTypesIn(root, project);
    expect(found.problems).toEqual([expect.stringContaining(problem)]);
    expect(found.problems[0]).toContain(join(root, "agents/bad.md"));
    expect(custom(found).map(({ name }) => name)).toEqual(["good", "better"]);
  });

  it("of a trusted project override the user's, which override the built-in types (S70)", async () => {
    const { root, project, home } = files({
      "root/agents/reviewer.md": type("name: Reviewer", "mine"),
      "root/agents/scribe.md": type("name: scribe", "mine"),
      "project/.claude/agents/scribe.md": type("name: scribe\npermissionMode: bypassPermissions", "theirs"),
      "project/.claude/agents/out.md": "-> secret.md",
      "secret.md": type("name: out", "the key"),
    });
    const untrusted = await agentTypesIn(root, project);
    expect(findAgentType("scribe", untrusted.types)?.custom).toBe("mine");
    expect(findAgentType("reviewer", untrusted.types)).toMatchObject({ name: "Reviewer", custom: "mine" });
    const directory = join(project, ".claude/agents");
    expect(untrusted.ignored).toEqual([join(directory, "out.md"), join(directory, "scribe.md")]);
    expect(loadSettings(root, project, "/nowhere").ignored).toEqual([`${directory}: out.md, scribe.md`]);

    await setTrust(
      root,
      project,
      true,
      systemClock,
      await unconfirmedParts({ root, cwd: project, home: root }),
    );
    const trusted = await agentTypesIn(root, project);
    expect(findAgentType("scribe", trusted.types)).toMatchObject({
      custom: "theirs",
      permissionMode: "bypassPermissions",
    });
    expect(trusted.types.filter(({ name }) => name === "scribe")).toHaveLength(1);
    expect(trusted.problems).toEqual([expect.stringContaining(`link out of ${project}`)]);
    expect(trusted.ignored).toEqual([]);
    expect(loadSettings(root, project, "/nowhere").ignored).toEqual([]);
    expect(JSON.stringify(trusted)).not.toContain("the key");
    writeFileSync(
      join(directory, "scribe.md"),
      type("name: scribe\npermissionMode: bypassPermissions", "new"),
    );
    const changed = await agentTypesIn(root, project);
    expect(findAgentType("scribe", changed.types)?.custom).toBe("mine");
    expect(changed.ignored).toEqual([join(directory, "scribe.md")]);
    expect(loadSettings(root, project, "/nowhere").ignored).toEqual([`${directory}/scribe.md: agent`]);
    expect(home).toBeDefined();
  });

  it("in ~/.claude are the user's, even if the home directory is the project", async () => {
    const { home } = files({ ".claude/agents/scribe.md": type("name: scribe") });
    const found = await agentTypesIn(join(home, ".claude"), home);
    expect(custom(found)).toHaveLength(1);
    expect(found.ignored).toEqual([]);
    expect(loadSettings(join(home, ".claude"), home, "/nowhere").ignored).toEqual([]);
  });
});

describe("openNotes", () => {
  const denyNothing = () => false;
  const scribe = { name: "scribe", description: "", prompt: "" };

  it("finds notes where Claude Code keeps them, and loads their first lines", () => {
    const { root, project } = files({
      "root/agent-memory/scribe/MEMORY.md": `first\n${"line\n".repeat(300)}last`,
    });
    const at = (memory: "user" | "project" | "local") => {
      const notes = openNotes({ ...scribe, memory }, root, project, denyNothing);
      if (notes === undefined || "problem" in notes) throw new Error("openNotes returned no notes.");
      return notes;
    };
    expect(at("user").directory).toBe(join(root, "agent-memory/scribe"));
    expect(at("project").directory).toBe(join(project, ".claude/agent-memory/scribe"));
    expect(at("local").directory).toBe(join(project, ".claude/agent-memory-local/scribe"));
    expect(at("user").section).toMatch(/<file path="[^"]*\/MEMORY\.md">\nfirst\nline/);
    expect(at("user").section).toContain("is not loaded: shorten it");
    expect(at("user").section).not.toContain("last");
    expect(at("project").section).toContain("There is no MEMORY.md yet.");
    expect(openNotes(scribe, root, project, denyNothing)).toBeUndefined();
  });

  it.each([
    ["the notes directory", "project/.claude/agent-memory/scribe"],
    ["its parent directory", "project/.claude/agent-memory"],
  ])("disables project notes if %s is a symlink", (_, link) => {
    const { root, project } = files({
      "secret/MEMORY.md": "the key",
      "secret/scribe/MEMORY.md": "the key",
      [link]: "-> secret",
    });
    const notes = openNotes({ ...scribe, memory: "project" }, root, project, denyNothing);
    expect(notes).toEqual({ problem: expect.stringContaining("so notes are disabled") });
  });

  it("hides notes that a rule denies to the model", () => {
    const { root, project } = files({ "project/.claude/agent-memory/scribe/MEMORY.md": "the key" });
    const isDenied = (path: string, base: string) => path.endsWith("/MEMORY.md") && base === project;
    const notes = openNotes({ ...scribe, memory: "project" }, root, project, isDenied);
    expect(JSON.stringify(notes)).not.toContain("the key");
    expect(notes).toMatchObject({
      section: expect.stringContaining("A rule for Read denies MEMORY.md."),
    });
  });

  it("ignores a MEMORY.md that is a symlink", () => {
    const { root, project } = files({
      "secret.md": "the key",
      "project/.claude/agent-memory/scribe/MEMORY.md": "-> secret.md",
    });
    const notes = openNotes({ ...scribe, memory: "project" }, root, project, denyNothing);
    expect(JSON.stringify(notes)).toContain("There is no MEMORY.md yet.");
  });
});
