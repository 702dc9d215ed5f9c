import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readAgentTypes } from "../../../src/agent/prompts/agent-type-files.ts";
import type { AgentTypes } from "../../../src/agent/prompts/agent-types.ts";
import { findAgentType } from "../../../src/agent/prompts/agent-types.ts";
import { openNotes } from "../../../src/agent/prompts/type-notes.ts";
import { systemClock } from "../../../src/os/clock.ts";
import { agentTypesIn } from "../../../src/runtime/agent/load-agent-types.ts";
import { loadSettings } from "../../../src/settings/settings.ts";
import { setTrust } from "../../../src/settings/trust.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { writeTree } from "../../support/tree.ts";

/** A root and a project with these files; a text that begins with `-> ` is a link. */
function files(texts: Readonly<Record<string, string>>) {
  const home = temporaryDirectory();
  writeTree(home, texts);
  for (const name of ["root", "project"]) mkdirSync(join(home, name), { recursive: true });
  return { home, root: join(home, "root"), project: join(home, "project") };
}

const type = (matter: string, body = "Do it.") => `---\n${matter}\n---\n${body}\n`;
const custom = ({ types }: Pick<AgentTypes, "types">) => types.filter(({ file }) => file !== undefined);

describe("agent types of files", () => {
  it("are read whole", () => {
    const { root } = files({
      "root/agents/scribe.md": type(
        "name: scribe\ndescription: Writes\n  it down.\ntools: Read, Write mcp__docs\ndisallowedTools: [Bash(rm:*), Edit]\nmodel: opus\npermissionMode: acceptEdits\ncolor: pink\nmemory: project\nunknown: 7",
        "You are a scribe.",
      ),
    });
    const read = readAgentTypes([{ directory: join(root, "agents"), names: ["scribe.md"] }]);
    expect(read.flaws).toEqual([]);
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
        custom: "You are a scribe.",
        prompt: expect.stringContaining("whatever the work asks for"),
        file: join(root, "agents/scribe.md"),
      },
    ]);
  });

  it.each([
    ["no front matter", "Just text.", "gives it no name"],
    ["YAML that is none", "---\nname: [\n---\n", "at line"],
    ["a name that is no word", type("name: -x y"), "cannot be the name"],
    ["a name that leads elsewhere", type("name: ../../x"), "cannot be the name"],
    ["tools that say nothing", type("name: x\ntools:"), "its tools are not a list"],
    ["tools that are no words", type("name: x\ntools: [Read, 7]"), "its tools are not a list"],
    [
      "a pattern where nobody would hold it against a call",
      type("name: x\ntools: Bash(git:*)"),
      "is not one",
    ],
    [
      "what never runs, unclear",
      type("name: x\ndisallowedTools: {Bash: true}"),
      "its disallowedTools are not a list",
    ],
    ["a mode that is none", type("name: x\npermissionMode: plann"), "its permissionMode is not default,"],
    ["the lead's own mode", type("name: x\npermissionMode: delegate"), "its permissionMode is not default,"],
    ["a model that cannot be one", type("name: x\nmodel: a b"), "is not a valid model name"],
    ["notes nowhere", type("name: x\nmemory: team"), "its memory is not user,"],
  ])("with %s are told of and hide no other", async (_title, text, flaw) => {
    const { root, project } = files({
      "root/agents/a-good.md": type("name: good"),
      "root/agents/bad.md": text,
      "root/agents/z-better.md": type("name: better"),
    });
    const found = await agentTypesIn(root, project);
    expect(found.flaws).toEqual([expect.stringContaining(flaw)]);
    expect(found.flaws[0]).toContain(join(root, "agents/bad.md"));
    expect(custom(found).map(({ name }) => name)).toEqual(["good", "better"]);
  });

  it("of a project count once a person trusts it, over the user's, over the built-in ones (S70)", async () => {
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

    await setTrust(root, project, true, systemClock);
    const trusted = await agentTypesIn(root, project);
    expect(findAgentType("scribe", trusted.types)).toMatchObject({
      custom: "theirs",
      permissionMode: "bypassPermissions",
    });
    expect(trusted.types.filter(({ name }) => name === "scribe")).toHaveLength(1);
    expect(trusted.flaws).toEqual([expect.stringContaining(`leads out of ${project}`)]);
    expect(trusted.ignored).toEqual([]);
    expect(loadSettings(root, project, "/nowhere").ignored).toEqual([]);
    expect(JSON.stringify(trusted)).not.toContain("the key");
    expect(home).toBeDefined();
  });

  it("in the home directory are the user's own", async () => {
    const { home } = files({ ".claude/agents/scribe.md": type("name: scribe") });
    const found = await agentTypesIn(join(home, ".claude"), home);
    expect(custom(found)).toHaveLength(1);
    expect(found.ignored).toEqual([]);
    expect(loadSettings(join(home, ".claude"), home, "/nowhere").ignored).toEqual([]);
  });
});

describe("the notes of a type", () => {
  const nothing = () => false;
  const scribe = { name: "scribe", description: "", prompt: "" };

  it("lie where Claude Code keeps them, and their first lines are loaded", () => {
    const { root, project } = files({
      "root/agent-memory/scribe/MEMORY.md": `first\n${"line\n".repeat(300)}last`,
    });
    const at = (memory: "user" | "project" | "local") => {
      const notes = openNotes({ ...scribe, memory }, root, project, nothing);
      if (notes === undefined || "flaw" in notes) throw new Error("There are no notes.");
      return notes;
    };
    expect(at("user").directory).toBe(join(root, "agent-memory/scribe"));
    expect(at("project").directory).toBe(join(project, ".claude/agent-memory/scribe"));
    expect(at("local").directory).toBe(join(project, ".claude/agent-memory-local/scribe"));
    expect(at("user").section).toMatch(/<file path="[^"]*\/MEMORY\.md">\nfirst\nline/);
    expect(at("user").section).toContain("is not loaded: shorten it");
    expect(at("user").section).not.toContain("last");
    expect(at("project").section).toContain("There is no MEMORY.md yet.");
    expect(openNotes(scribe, root, project, nothing)).toBeUndefined();
  });

  it.each([
    ["itself", "project/.claude/agent-memory/scribe"],
    ["above it", "project/.claude/agent-memory"],
  ])(
    "of a project are none where a link stands for the directory %s: nobody else's is read or written",
    (_, link) => {
      const { root, project } = files({
        "secret/MEMORY.md": "the key",
        "secret/scribe/MEMORY.md": "the key",
        [link]: "-> secret",
      });
      const notes = openNotes({ ...scribe, memory: "project" }, root, project, nothing);
      expect(notes).toEqual({ flaw: expect.stringContaining("no notes are kept there") });
    },
  );

  it("are not told to a model where a rule keeps them back", () => {
    const { root, project } = files({ "project/.claude/agent-memory/scribe/MEMORY.md": "the key" });
    const kept = (path: string, base: string) => path.endsWith("/MEMORY.md") && base === project;
    const notes = openNotes({ ...scribe, memory: "project" }, root, project, kept);
    expect(JSON.stringify(notes)).not.toContain("the key");
    expect(notes).toMatchObject({
      section: expect.stringContaining("A rule for Read keeps MEMORY.md back."),
    });
  });

  it("do not bring in what a link in their place leads to", () => {
    const { root, project } = files({
      "secret.md": "the key",
      "project/.claude/agent-memory/scribe/MEMORY.md": "-> secret.md",
    });
    const notes = openNotes({ ...scribe, memory: "project" }, root, project, nothing);
    expect(JSON.stringify(notes)).toContain("There is no MEMORY.md yet.");
  });
});
