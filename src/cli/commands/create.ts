import { createManualTeam } from "../../runtime/commands/create-team.ts";
import { defined } from "../../schema/defined.ts";
import { readTeam } from "../../team/config/config.ts";
import { line } from "../../terminal/output.ts";
import { optionWords } from "../../text/shell-quote.ts";
import { defineCommand } from "../command.ts";
import { METADATA_OPTION, metadataOption } from "../metadata-option.ts";
import { REC_OPTION, recOption } from "../option-values.ts";

export const command = defineCommand({
  name: "create",
  ignoresTeamOptions: true,
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
    const ref = await createManualTeam(call, {
      name: args.name,
      unique: options.unique,
      agentType: options.agentType,
      ...defined({ description: options.description, metadata: metadataOption(options.metadata) }),
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
