import { createTeam } from "../../operations/create-team.ts";
import { systemClock } from "../../os/clock.ts";
import { refuseSecondTeam } from "../../runtime/operation-context.ts";
import { loadSettings } from "../../settings/settings.ts";
import { readTeam } from "../../team/config/config.ts";
import { teamsHome } from "../../team/ref.ts";
import { line } from "../../terminal/output.ts";
import { optionWords } from "../../text/shell-quote.ts";
import { defineCommand } from "../command.ts";
import { METADATA_OPTION, metadataOption } from "../metadata-option.ts";
import { REC_OPTION, recOption } from "../option-values.ts";

export const command = defineCommand({
  name: "create",
  summary: "Create a team that you lead yourself, by hand or from a script",
  args: [{ name: "name", summary: "the team's name; it must contain a letter or a digit" }],
  options: {
    description: { short: "d", value: "text", summary: "what the team is for" },
    agentType: { value: "type", summary: "the lead's agent type" },
    metadata: METADATA_OPTION,
    rec: REC_OPTION,
    unique: { summary: "use name-2, name-3, … if the name is taken" },
  },
  examples: [
    "teams create review",
    'teams create review -d "Security review of the API"',
    "teams create nightly --unique --json",
  ],
  async run(call) {
    const { args, options, io, out } = call;
    refuseSecondTeam(call, "create a team");
    const home = teamsHome(io.env);
    const mode = loadSettings(home.root, io.cwd).permissions.defaultMode;
    const agentType = options.agentType && (await canonicalType(home.root, io.cwd, options.agentType));
    const metadata = metadataOption(options.metadata);
    const { ref } = await createTeam(home, systemClock, {
      name: args.name,
      cwd: io.cwd,
      unique: options.unique,
      ...(options.description === undefined ? {} : { description: options.description }),
      ...(agentType === undefined ? {} : { agentType }),
      ...(mode === undefined ? {} : { mode }),
      ...(metadata === undefined ? {} : { metadata }),
      recording: recOption(options.rec, io.cwd),
    });
    const { name, displayName, leadAgentId } = readTeam(ref);
    out.done({ team: name, displayName: displayName ?? name, leadAgentId, config: ref.paths.config }, () =>
      [
        line`Created team ${name}.`,
        line`Next: teams spawn <name> --prompt "…" ${optionWords("--team", name)}`,
      ].join("\n"),
    );
  },
});

/** Returns the agent type's name as its definition spells it. @throws TeamError INVALID_TYPE */
async function canonicalType(root: string, cwd: string, name: string): Promise<string> {
  const [{ agentTypesIn }, { spawnType }] = await Promise.all([
    import("../../runtime/agent/load-agent-types.ts"),
    import("../../operations/spawn/draft-member.ts"),
  ]);
  return spawnType(name, await agentTypesIn(root, cwd)).name;
}
