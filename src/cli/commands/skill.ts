import { EXIT, TeamError } from "../../errors.ts";
import { deciderOf } from "../../runtime/select-team.ts";
import { line } from "../../terminal/output.ts";
import { defineCommand, usageError } from "../command.ts";
import { SKILL } from "../skill/skill-text.ts";

export const command = defineCommand({
  name: "skill",
  summary: "Teach another agent this command line: print a SKILL.md, or install it",
  args: [],
  options: {
    install: { summary: "write it to .agents/skills and .claude/skills of this directory" },
    user: { summary: "with --install: write it to your home instead, for all projects" },
  },
  ignoresTeamOptions: true,
  examples: ["teams skill", "teams skill --install", "teams skill --install --user"],
  notes:
    "Claude Code reads .claude/skills; Codex, Gemini, OpenCode and the agents of teams read .agents/skills.",
  async run({ io, options, out }) {
    if (!options.install) {
      if (options.user) throw usageError(command, "accepts --user only with --install.");
      out.answer({ skill: SKILL }, () => SKILL.trimEnd());
      return EXIT.done;
    }
    if (deciderOf(io.env) === "model") {
      throw new TeamError("PERMISSION_DENIED", "Only a person can install skills; nothing was changed.", {
        hint: `Ask the user to run: teams skill --install${options.user ? " --user" : ""}`,
      });
    }
    const { installSkill, skillFiles } = await import("../skill/install-skill.ts");
    const files = installSkill(skillFiles(options.user, io.cwd, io.env));
    out.done({ files }, () => files.map(({ path, change }) => line`${change}: ${path}`).join("\n"));
    return EXIT.done;
  },
});
