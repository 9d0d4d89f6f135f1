"""The Helm chart, rendered by Helm itself and checked against the schemas of Kubernetes: what it makes is valid, and
what cannot work is refused before it is installed."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from proxy.config import Config, load
from tests.deploy.cluster import ENVIRONMENT, needs_shared
from tests.deploy.helm import CHART, Refused, Rendered, render
from tests.deploy.test_cluster import SERVICES

pytestmark = pytest.mark.long

ALONE: Mapping[str, Any] = {"existingSecret": "mine"}
TOKENS = {"OLVIDO_ADMIN_TOKEN": "a" * 24, "OLVIDO_METRICS_TOKEN": "m" * 24}
WITH_DATABASE: Mapping[str, Any] = {
    "postgresql": {"enabled": True, "storageClass": "fast"},
    "redis": {"enabled": True},
    "secrets": {**TOKENS, "POSTGRES_PASSWORD": "p" * 24, "REDIS_PASSWORD": "r" * 24},
}
EVERYTHING: Mapping[str, Any] = {
    **WITH_DATABASE,
    "image": {"repository": "registry.example.com/olvido", "tag": "1.2.3"},
    "imagePullSecrets": [{"name": "pull"}],
    "workers": 4,
    "migrate": "init",
    "spool": {"size": "2Gi", "persistence": {"enabled": True, "storageClass": "fast"}},
    "service": {"type": "LoadBalancer", "annotations": {"a": "b"}},
    "ingress": {"enabled": True, "host": "olvido.example.com", "tlsSecret": "tls"},
    "autoscaling": {"enabled": True},
    "podAnnotations": {"a": "b"},
    "podLabels": {"team": "a"},
    "nodeSelector": {"disk": "fast"},
    "tolerations": [{"key": "a", "operator": "Exists"}],
    "affinity": {"podAntiAffinity": {}},
    "priorityClassName": "high",
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "networkPolicy": {
        "enabled": True,
        "from": [{"namespaceSelector": {}}],
        "egress": [{"ports": [{"port": 443}]}],
    },
}
CASES = {
    "alone": ALONE,
    "own secrets": {"secrets": {**TOKENS, "DATABASE_URL": "postgresql://db/olvido", "REDIS_URL": "redis://redis"}},
    "with database": WITH_DATABASE,
    "everything": EVERYTHING,
    "without redis": {**ALONE, "config": {"shared": None}},
    "one pod by itself": {**ALONE, "replicas": 1, "config": {"storage": None, "shared": None}},
}
BASIC = ["ConfigMap", "Deployment", "PodDisruptionBudget", "Service"]
# Kinds that Kubernetes does not know by itself.
CUSTOM = {"ServiceMonitor"}


@cache
def rendered(name: str) -> Rendered:
    return render(CASES[name])


def pods(chart: Rendered) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The specification of each pod, by the name of what makes it."""
    for each in chart.manifests:
        if each["kind"] in ("Deployment", "StatefulSet", "Job"):
            yield each["metadata"]["name"], each["spec"]["template"]["spec"]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("version", ["1.25.0", "latest"])
def test_what_it_makes_is_valid(name: str, version: str) -> None:
    import kubernetes_validate  # here: a second of CPU for every process that only collects this file

    schema = kubernetes_validate.latest_version() if version == "latest" else version
    chart = rendered(name)
    assert chart.lint == ()
    for each in chart.manifests:
        if each["kind"] not in CUSTOM:
            kubernetes_validate.validate(dict(each), schema, strict=True)
    named = [(each["kind"], each["metadata"]["name"]) for each in chart.manifests]
    assert len(set(named)) == len(named)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("alone", sorted([*BASIC, "ConfigMap", "Job"])),
        ("own secrets", sorted([*BASIC, "ConfigMap", "Job", "Secret", "Secret"])),
        ("one pod by itself", BASIC),
    ],
)
def test_it_makes_no_more_than_was_asked_for(name: str, kinds: list[str]) -> None:
    assert rendered(name).kinds() == kinds


@pytest.mark.parametrize("name", CASES)
def test_every_pod_is_confined(name: str) -> None:
    for _, pod in pods(rendered(name)):
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False  # REDIS_PORT and its like would be taken for settings
        assert pod["securityContext"]["runAsNonRoot"] is True
        for container in (*pod["containers"], *pod.get("initContainers", ())):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert {"requests", "limits"} == set(container["resources"])
            mounted = {each["name"] for each in container["volumeMounts"]}
            assert mounted <= {each["name"] for each in pod["volumes"]} | {"spool", "data"}


@pytest.mark.parametrize("name", CASES)
def test_what_selects_pods_selects_those_of_the_proxy_alone(name: str) -> None:
    chart = rendered(name)
    labels = {
        each["metadata"]["name"]: each["spec"]["template"]["metadata"]["labels"]
        for each in chart.manifests
        if each["kind"] in ("Deployment", "StatefulSet", "Job")
    }

    def selected(selector: Mapping[str, str]) -> list[str]:
        return [name for name, given in labels.items() if selector.items() <= given.items()]

    assert selected(chart.of("Service", "demo-olvido")["spec"]["selector"]) == ["demo-olvido"]
    for kind in ("PodDisruptionBudget", "NetworkPolicy"):
        for each in [each for each in chart.manifests if each["kind"] == kind]:
            selector = each["spec"].get("selector") or each["spec"]["podSelector"]
            assert selected(selector["matchLabels"]) == ["demo-olvido"]
    for each in chart.manifests:
        if each["kind"] in ("Deployment", "StatefulSet"):
            assert selected(each["spec"]["selector"]["matchLabels"]) == [each["metadata"]["name"]]


def served(chart: Rendered, tmp_path: Path, ending: str = "demo-olvido") -> Path:
    path = tmp_path / "olvido.yaml"
    path.write_text(chart.of("ConfigMap", ending)["data"]["olvido.yaml"])
    return path


@needs_shared
@pytest.mark.parametrize("name", ["alone", "own secrets", "with database"])
def test_the_configuration_that_it_makes_is_valid(name: str, tmp_path: Path) -> None:
    load(served(rendered(name), tmp_path), ENVIRONMENT, host="0.0.0.0")


@pytest.mark.skipif("workers" not in type(Config().server).model_fields, reason="needs `server.workers`")
@needs_shared
def test_so_is_that_of_several_workers(tmp_path: Path) -> None:
    made = load(served(rendered("everything"), tmp_path), ENVIRONMENT, host="0.0.0.0")
    assert made.server.model_dump()["workers"] == EVERYTHING["workers"]


@pytest.mark.parametrize(("name", "kind"), [("one pod by itself", "sqlite"), ("without redis", "postgres")])
def test_so_is_that_of_less(name: str, kind: str, tmp_path: Path) -> None:
    made = load(served(rendered(name), tmp_path), ENVIRONMENT, host="0.0.0.0")
    assert made.storage.kind == kind
    assert made.server.drain == values()["drainSeconds"]
    assert made.admin.metrics_token is not None


def values() -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
    return loaded


def test_its_defaults_are_those_of_the_proxy_and_of_the_compose_file() -> None:
    given = values()
    assert given["drainSeconds"] == Config().server.drain
    assert given["config"]["storage"]["pool"] == Config().storage.pool
    assert float(given["spool"]["size"].removesuffix("Gi")) * 1024 >= 2 * Config().storage.spool_mb
    annotations = given["ingress"]["annotations"]
    assert annotations["nginx.ingress.kubernetes.io/proxy-body-size"] == f"{Config().server.max_body_mb}m"
    assert (given["postgresql"]["image"], given["redis"]["image"]) == (
        SERVICES["postgres"]["image"],
        SERVICES["redis"]["image"],
    )
    chart = rendered("with database")
    (redis,) = [pod for name, pod in pods(chart) if name.endswith("-redis")]
    container = redis["containers"][0]
    assert container["command"] == [part.replace("$$", "$") for part in SERVICES["redis"]["entrypoint"]]
    assert container["args"] == SERVICES["redis"]["command"]
    assert (
        chart.of("ConfigMap", "-postgresql")["data"]["vector.sql"]
        in (CHART.parents[1] / "cluster" / "vector.sql").read_text()
    )


@pytest.mark.parametrize("drain", [0, 20, 120])
def test_a_pod_has_time_to_stop(drain: int) -> None:
    chart = render({**ALONE, "drainSeconds": drain, "preStopSeconds": 7})
    (pod,) = [pod for name, pod in pods(chart) if name == "demo-olvido"]
    assert pod["terminationGracePeriodSeconds"] >= 7 + 2 * drain + 10
    assert pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"] == ["sleep", "7"]


def test_probes_ask_what_the_proxy_answers() -> None:
    (pod,) = [pod for name, pod in pods(rendered("alone")) if name == "demo-olvido"]
    container = pod["containers"][0]
    asked = {probe: container[probe]["httpGet"]["path"] for probe in container if probe.endswith("Probe")}
    assert asked == {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
    assert container["ports"] == [{"name": "http", "containerPort": 8484}]


def test_a_changed_configuration_makes_new_pods_and_an_unchanged_one_none() -> None:
    def checksum(**more: Any) -> str:
        made = render({**ALONE, **more}).of("Deployment")
        return str(made["spec"]["template"]["metadata"]["annotations"]["checksum/config"])

    assert checksum() == checksum(replicas=5)
    assert len({checksum(), checksum(config={"tenancy": "shared"}), checksum(drainSeconds=30)}) == 3


def test_the_migration_runs_before_all_else_and_brings_what_it_reads() -> None:
    chart = rendered("own secrets")
    job = chart.of("Job")
    weights = {}
    for each in (job, chart.of("ConfigMap", "-migrate"), chart.of("Secret", "-migrate")):
        annotations = each["metadata"]["annotations"]
        assert annotations["helm.sh/hook"] == "pre-install,pre-upgrade"
        weights[each["kind"]] = int(annotations["helm.sh/hook-weight"])
    assert weights["ConfigMap"] == weights["Secret"] < weights["Job"]
    pod = job["spec"]["template"]["spec"]
    assert pod["containers"][0]["args"] == SERVICES["migrate"]["command"]
    assert pod["containers"][0]["envFrom"] == [{"secretRef": {"name": "demo-olvido-migrate"}}]
    assert {"name": "config", "configMap": {"name": "demo-olvido-migrate"}} in pod["volumes"]
    assert chart.of("ConfigMap", "-migrate")["data"] == chart.of("ConfigMap", "demo-olvido")["data"]
    assert chart.of("Secret", "-migrate")["stringData"] == chart.of("Secret", "demo-olvido")["stringData"]


def test_with_a_database_of_its_own_each_pod_migrates_before_it_starts() -> None:
    """A hook would wait for a database that is made after it."""
    chart = rendered("with database")
    assert "Job" not in chart.kinds()
    pod = chart.of("Deployment", "demo-olvido")["spec"]["template"]["spec"]
    assert [each["args"] for each in pod["initContainers"]] == [["db", "upgrade"]]
    names = [each["name"] for each in pod["containers"][0]["env"]]
    assert names == ["POSTGRES_PASSWORD", "DATABASE_URL", "REDIS_PASSWORD", "REDIS_URL"]
    hosts = {each["value"].rpartition("@")[2] for each in pod["containers"][0]["env"] if "value" in each}
    assert hosts == {"demo-olvido-postgresql:5432/olvido", "demo-olvido-redis:6379/0"}
    assert {"demo-olvido-postgresql", "demo-olvido-redis"} < {
        each["metadata"]["name"] for each in chart.manifests if each["kind"] == "Service"
    }


def test_rows_that_wait_find_their_pod_again() -> None:
    chart = rendered("everything")
    proxy = chart.of("StatefulSet", "demo-olvido")
    assert [each["metadata"]["name"] for each in proxy["spec"]["volumeClaimTemplates"]] == ["spool"]
    assert chart.of("Service", "-pods")["spec"]["clusterIP"] == "None"
    assert chart.of("HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]["kind"] == "StatefulSet"
    assert "replicas" not in proxy["spec"]


def test_the_monitor_names_the_job_as_the_alerts_do() -> None:
    (endpoint,) = rendered("everything").of("ServiceMonitor")["spec"]["endpoints"]
    assert endpoint["relabelings"] == [{"targetLabel": "job", "replacement": "olvido"}]
    assert endpoint["authorization"]["credentials"] == {"name": "demo-olvido", "key": "OLVIDO_METRICS_TOKEN"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "secrets.OLVIDO_ADMIN_TOKEN is needed"),
        ({"secrets": TOKENS}, "secrets.DATABASE_URL is needed"),
        ({"secrets": TOKENS, "postgresql": {"enabled": True}}, "secrets.POSTGRES_PASSWORD is needed"),
        ({**ALONE, "secrets": TOKENS}, "existingSecret"),
        ({"secrets": {**TOKENS, "OLVIDO_ADMIN_TOKEN": "short"}}, "OLVIDO_ADMIN_TOKEN"),
        ({"secrets": {**TOKENS, "POSTGRES_PASSWORD": "p@ss"}}, "POSTGRES_PASSWORD"),
        ({"secrets": {**TOKENS, "DATABASE_URL": "mysql://db"}}, "DATABASE_URL"),
        ({"secrets": {"NOT A NAME": "x"}}, "NOT A NAME"),
        ({**ALONE, "replica": 3}, "replica"),
        ({**ALONE, "replicas": 0}, "replicas"),
        ({**ALONE, "replicas": "three"}, "replicas"),
        ({**ALONE, "workers": 0}, "workers"),
        ({**ALONE, "migrate": "always"}, "migrate"),
        ({**ALONE, "image": {"repository": ""}}, "repository"),
        ({**ALONE, "service": {"port": 70_000}}, "port"),
        ({**ALONE, "spool": {"size": "much"}}, "size"),
        ({**ALONE, "podDisruptionBudget": {"maxUnavailable": 0}}, "maxUnavailable"),
        ({**ALONE, "config": {"tenancy": "none"}}, "tenancy"),
        ({**ALONE, "config": {"server": {"drain": 5}}}, "drainSeconds"),
        ({**ALONE, "config": {"server": {"workers": 5}}}, "give `workers`"),
        ({**ALONE, "config": {"storage": {"kind": "sqlite"}}}, "storage.kind must be postgres"),
        ({**ALONE, "ingress": {"enabled": True}}, "ingress.host is needed"),
        ({**ALONE, "autoscaling": {"enabled": True, "minReplicas": 11}}, "minReplicas is above"),
    ],
    ids=str,
)
def test_what_cannot_work_is_refused(given: Mapping[str, Any], said: str) -> None:
    with pytest.raises(Refused, match=re.escape(said)):
        render(given)


def test_the_schema_knows_every_value_and_no_other() -> None:
    schema = yaml.safe_load((CHART / "values.schema.json").read_text())

    def keys(given: Mapping[str, Any], known: Mapping[str, Any], where: str = "") -> Iterator[str]:
        for name, value in given.items():
            yield f"{where}{name}"
            inner = known["properties"].get(name, {})
            if (
                isinstance(value, dict)
                and inner.get("additionalProperties") is False
                and "patternProperties" not in inner
            ):
                yield from keys(value, inner, f"{where}{name}.")

    def declared(known: Mapping[str, Any], where: str = "") -> Iterator[str]:
        for name, inner in known["properties"].items():
            yield f"{where}{name}"
            if inner.get("additionalProperties") is False and "patternProperties" not in inner:
                yield from declared(inner, f"{where}{name}.")

    unsaid = {"global", "imagePullSecrets"}  # Helm's own; a list
    assert set(keys(values(), schema)) | unsaid == set(declared(schema)) | unsaid


def test_its_version_is_the_proxys() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    image = SERVICES["olvido-1"]["image"]
    assert image == f"olvido:{chart['appVersion']}"


@pytest.mark.parametrize("name", ["olvido", "a" * 53, "our-olvido-2"])
def test_names_stay_names_whatever_the_release_is_called(name: str) -> None:
    for each in render(WITH_DATABASE, name).manifests:
        assert re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", each["metadata"]["name"])
        assert all(len(value) <= 63 for value in each["metadata"]["labels"].values())


def test_its_notes_say_what_has_to_be_known() -> None:
    told = rendered("alone").notes
    assert "24 connections" in told  # 3 pods, 1 worker each, storage.pool: 8
    assert "spool.persistence.enabled" in told
    assert "without a backup" in rendered("with database").notes
    assert "https://olvido.example.com/v1" in rendered("everything").notes
