import type { WorkerContext } from "../context.ts";
import type { AccountLimitWait } from "./account-limit.ts";
import { BudgetWait } from "./budget.ts";
import { CliQuestions } from "./cli-questions.ts";
import { PermissionRequests } from "./permission-requests.ts";
import { PlanApproval } from "./plan-approval.ts";
import { Questions, UndeliveredAnswers } from "./questions.ts";

/** Everything that an agent may have to wait for. */
export interface WorkerGates {
  readonly permissionRequests: PermissionRequests;
  readonly planApproval: PlanApproval;
  readonly questions: Questions;
  readonly cliQuestions: CliQuestions;
  readonly undeliveredAnswers: UndeliveredAnswers;
  readonly budget: BudgetWait;
  readonly accountLimit: LazyAccountLimit;
}

export function createGates(context: WorkerContext): WorkerGates {
  const planApproval = new PlanApproval(context);
  const undeliveredAnswers = new UndeliveredAnswers(context, planApproval);
  return {
    permissionRequests: new PermissionRequests(context),
    planApproval,
    questions: new Questions(context, undeliveredAnswers),
    cliQuestions: new CliQuestions(context),
    undeliveredAnswers,
    budget: new BudgetWait(context),
    accountLimit: lazyAccountLimit(context),
  };
}

/** The wait for the limits of the model's account, loaded with the first model of a server. */
export interface LazyAccountLimit {
  /** Undefined until it is loaded. */
  readonly current: AccountLimitWait | undefined;
  open(): Promise<AccountLimitWait>;
}

function lazyAccountLimit(context: WorkerContext): LazyAccountLimit {
  let current: AccountLimitWait | undefined;
  return {
    get current() {
      return current;
    },
    async open() {
      const loaded = await import("./account-limit.ts");
      current ??= new loaded.AccountLimitWait(context);
      return current;
    },
  };
}
