"""Spark 4.1 with Iceberg's runtime. It opens the SQLite catalog as Iceberg's JDBC catalog, so that the catalog is judged too."""
import json
import os
import pathlib
import sys

from pyspark.sql import SparkSession

from foreign_reader import quoted, serve


def start(database):
    jars = ",".join(map(str, pathlib.Path(os.environ["FRAZIL_SPARK_JARS"]).glob("*.jar")))
    options = {"spark.jars": jars, "spark.driver.extraClassPath": jars.replace(",", ":"), "spark.driver.memory": "1g",
               "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.bindAddress": "127.0.0.1",
               "spark.driver.host": "127.0.0.1", "spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "1",
               "spark.sql.catalog.default": "org.apache.iceberg.spark.SparkCatalog", "spark.sql.catalog.default.type": "jdbc",
               "spark.sql.catalog.default.uri": f"jdbc:sqlite:{database}", "spark.sql.catalog.default.jdbc.schema-version": "V1",
               "spark.sql.catalog.default.warehouse": f"file://{database}.unused"}
    builder = SparkSession.builder.master("local[2]").appName("judge")
    for key, value in options.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def main():
    jobs = json.loads(pathlib.Path(sys.argv[1]).read_text())
    session = start(jobs[0]["catalog"])
    serve(lambda job, columns: session.sql(f"SELECT {', '.join(quoted(columns))} FROM `default`.{job['table']}").toArrow())
    session.stop()


main()
