// The models that jobs serve: where each is asked, how many of its replicas answer, and how a new spec is rolled in.
import type { Service, Services } from "../api/types";
import { formatCount, formatNumber } from "../format/numbers";
import { useServices } from "../hooks/use_services";
import { remarkOn, replicaState, sortedReplicas, type Replica } from "../model/services";
import { AsOf } from "../ui/as_of";
import { Notice, NotYet } from "../ui/notice";
import { Ago } from "../ui/times";
import "../styles/services.css";

const refreshMs = 5_000;

export function ServicesPage() {
  const list = useServices(refreshMs);
  return (
    <div class="page">
      <header class="page-header">
        <h1>Services</h1>
        <AsOf shown={list} />
        <p class="muted explanation">
          A spec with <code>task: serve</code> keeps replicas of a model ready to answer.
        </p>
      </header>
      {list.data ? <ServiceList {...list.data} /> : <NotYet what="the services" shown={list} />}
    </div>
  );
}

function ServiceList({ address, services }: Services) {
  if (address === null)
    return (
      <Notice kind="empty" title="This coordinator has no address for services">
        Start <code>podium-coordinator --services ADDRESS:PORT</code> to have one.
      </Notice>
    );
  if (services.length === 0)
    return (
      <Notice kind="empty" title="No services">
        Submit a spec with <code>task: serve</code>, here or with <code>podium submit</code>.
      </Notice>
    );
  return (
    <>
      {services.map((service) => (
        <ServiceSection key={service.name} service={service} />
      ))}
    </>
  );
}

function ServiceSection({ service }: { service: Service }) {
  const { name, url, experiment, ready, active, min, max, queue_ms: queueMs, replicas } = service;
  const remark = remarkOn(service);
  return (
    <section class="service" aria-label={`Service ${name}`}>
      <header class="service-head">
        <h2>{name}</h2>
        {url && <code class="service-url">{url}</code>}
        <a href={`#/experiments/${experiment}`}>experiment {experiment}</a>
        <span class="muted">
          {formatCount(ready)} of {formatCount(active)} ready ({min}–{max}),{" "}
          {formatNumber(service.requests_per_second)} requests/s
          {queueMs !== null && <>, {formatNumber(queueMs)} ms in the queue</>}
        </span>
      </header>
      {remark && (
        <p class={remark.bad ? "error-text" : "muted"} role="status">
          {remark.text}
        </p>
      )}
      <ReplicaTable name={name} replicas={sortedReplicas(replicas)} />
    </section>
  );
}

function ReplicaTable({ name, replicas }: { name: string; replicas: readonly Replica[] }) {
  return (
    <div class="panel scroll-x" tabIndex={0} role="region" aria-label={`Replicas of ${name}`}>
      <table class="table cards replicas">
        <thead>
          <tr>
            <th>Job</th>
            <th>State</th>
            <th>Node</th>
            <th>Ready since</th>
            <th class="number">Queue, ms</th>
            <th class="number">Requests/s</th>
            <th class="number">Under way</th>
          </tr>
        </thead>
        <tbody>
          {replicas.map((replica) => (
            <ReplicaRow key={replica.job} replica={replica} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const figure = (value: number | null) => (value === null ? "–" : formatNumber(value));

function ReplicaRow({ replica }: { replica: Replica }) {
  const { job, node, reason, ready_since_ms: sinceMs, in_flight: underWay } = replica;
  return (
    <tr>
      <th scope="row">
        <a href={`#/jobs/${job}`}>{job}</a>
      </th>
      <td data-title="State" title={reason || undefined}>
        {replicaState(replica)}
      </td>
      <td data-title="Node">{node ?? "–"}</td>
      <td data-title="Ready since">{sinceMs === null ? "–" : <Ago ms={sinceMs} />}</td>
      <td class="number" data-title="Queue, ms">
        {figure(replica.queue_ms)}
      </td>
      <td class="number" data-title="Requests/s">
        {figure(replica.requests_per_second)}
      </td>
      <td class="number" data-title="Under way">
        {figure(underWay)}
      </td>
    </tr>
  );
}
