import { LEAD_NAME } from "../../schema/names.ts";
import type { ClientToolContext } from "../../team-tools/mcp/client-tool.ts";
import { cutText } from "../../text/characters/cut-text.ts";
import { stripControls } from "../../text/terminal-text.ts";

/** Maximum characters of the goal in a prompt. */
const MAX_GOAL = 20_000;

interface ListedPrompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: { readonly name: string; readonly description: string; readonly required: boolean }[];
}

type PromptText = {
  readonly description: string;
  readonly messages: {
    readonly role: "user";
    readonly content: { readonly type: "text"; readonly text: string };
  }[];
};

const LEAD_A_TEAM: ListedPrompt = {
  name: "lead_a_team",
  title: "Lead a team",
  description: "Reach a goal with a team of agents that you lead",
  arguments: [{ name: "goal", description: "The goal of the team", required: true }],
};

const JOIN_A_TEAM: ListedPrompt = {
  name: "join_a_team",
  title: "Join a team",
  description: "Work as a teammate: read your messages, take tasks, report to the lead",
  arguments: [{ name: "focus", description: "Your part of the work", required: false }],
};

/** Returns the prompts of a member, which a person chooses in the client. */
export function promptsOf({ role }: ClientToolContext): ListedPrompt[] {
  return [role === "lead" ? LEAD_A_TEAM : JOIN_A_TEAM];
}

/** @returns undefined if the member has no such prompt; `missing` if a required argument is not given */
export function promptOf(
  context: ClientToolContext,
  name: string,
  given: Readonly<Record<string, string>>,
): PromptText | { readonly missing: string } | undefined {
  const prompt = promptsOf(context).find((one) => one.name === name);
  if (prompt === undefined) return undefined;
  const missing = prompt.arguments.find((one) => one.required && !given[one.name]?.trim());
  if (missing !== undefined) return { missing: `The prompt ${name} needs the argument ${missing.name}.` };
  const words = (given.goal ?? given.focus ?? "").trim();
  const text = stripControls(cutText(words, MAX_GOAL));
  return {
    description: prompt.description,
    messages: [
      {
        role: "user",
        content: {
          type: "text",
          text: context.role === "lead" ? leadText(context, text) : joinText(context, text),
        },
      },
    ],
  };
}

function leadText({ ctx }: ClientToolContext, goal: string): string {
  return `You are ${ctx.actor}, the lead of the agent team ${ctx.ref.team}. Reach this goal with the team:

${goal}

1. TeamStatus shows whether the team exists and who is in it. If it does not exist, create it with TeamCreate.
2. Split the work into tasks that one agent can finish alone, and add each with TaskCreate. Set the dependencies between tasks with TaskUpdate (addBlockedBy).
3. Start three to five teammates with Agent. Put everything that an agent needs into its prompt: it does not see this conversation. If members have joined on their own, use SendMessage to give them work.
4. Then call Wait and ReadMessages. Answer a question with a message to the member who asked, not to all members. Answer plans with AnswerRequest; omit \`approve\` if only a person may decide.
5. When all tasks are completed, check the result yourself. Ask each teammate to shut down (SendMessage, type shutdown_request), Wait for its answer, then call TeamDelete, and report the result.`;
}

function joinText({ ctx, withoutInbox }: ClientToolContext, focus: string): string {
  const read = withoutInbox
    ? "Your messages arrive without a tool call."
    : "Read your messages with ReadMessages.";
  const idle = withoutInbox
    ? ""
    : "\n5. When your work is done, call ReportIdle once with your result. Then call Wait.";
  return `You are ${ctx.actor}, a teammate in the agent team ${ctx.ref.team}, which ${LEAD_NAME} leads. Work with the team until the lead asks you to shut down.${
    focus === ""
      ? ""
      : `

Your focus: ${focus}`
  }

1. ${read} TeamStatus shows the team, TaskList the tasks.
2. Claim the first free task with TaskClaim. Do exactly what it says.
3. Set it to completed with TaskUpdate, and tell ${LEAD_NAME} the result in one message (SendMessage). Add work that you find with TaskCreate.
4. Take the next task. A message may change your work: check for messages after each task.${idle}

Answer a shutdown request with SendMessage, type shutdown_response. Your plain text reaches no other member.`;
}

/** Returns the instructions for a model: its role in the team, and how messages reach it. */
export function instructionsFor({ ctx, worker, role, withoutInbox }: ClientToolContext): string {
  const who =
    role === "lead"
      ? `You are ${worker.name}, the lead of the agent team ${ctx.ref.team}. If it does not exist yet, TeamCreate creates it.`
      : `You are ${worker.name}, a teammate in the agent team ${ctx.ref.team}, which ${LEAD_NAME} leads.`;
  const mail = withoutInbox
    ? "Messages from other members arrive without a tool call."
    : "Messages arrive only when you ask for them: call ReadMessages when you start and after each piece of work, and Wait when you have nothing to do.";
  const idle =
    role === "lead" || withoutInbox
      ? ""
      : " When your work is done or cannot continue, call ReportIdle with your result.";
  return `${who} Your plain text reaches no other member; use SendMessage. ${mail}${idle} Claim a task with TaskClaim before you work on it, and set it to completed with TaskUpdate afterwards.`;
}
